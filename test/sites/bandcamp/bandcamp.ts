import { html, json, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

/** What makes a track special. */
interface Track {
  readonly id: number;
  readonly title: string;
  /** Other files of it can be downloaded for nothing. */
  readonly isFree?: boolean;
  /** There is nothing to listen to before it is released. */
  readonly isUnreleased?: boolean;
  /** Status of its page. */
  readonly pageStatus?: number;
}

/** By the last part of the path. */
const TRACKS: Readonly<Record<string, Track>> = {
  plain: { id: 1, title: 'Plain' },
  free: { id: 2, title: 'Free', isFree: true },
  unreleased: { id: 3, title: 'Unreleased', isUnreleased: true },
  limited: { id: 4, title: 'Limited', pageStatus: 429 },
};
const ALBUM: readonly string[] = ['plain', 'unreleased', 'free'];

/** Of free downloads, by their names: extension and file. */
const FILES = {
  'mp3-v0': ['.mp3', 'tone.mp3'],
  flac: ['.flac', 'tone.flac'],
  'aac-hi': ['.m4a', 'tone.m4a'],
  vorbis: ['.ogg', 'tone.ogg'],
} as const;
type FileName = keyof typeof FILES;

const TOKEN = 'token-of-one-day';
const DURATION_SECONDS = 6;

/** Bandcamp, as far as yt-dlp asks it: pages of tracks, albums and free downloads, the API of radio shows, and media. */
export function createBandcamp(): Site {
  const media = async (exchange: SiteExchange): Promise<void> => {
    const { enc = '', token } = Object.fromEntries(exchange.url.searchParams);
    if (token !== TOKEN) send(exchange, 'text/plain', '', 410);
    else await sendFile(exchange, enc in FILES ? FILES[enc as FileName][1] : 'ladder/mp3-256.mp3');
  };

  return {
    hosts: ['bandcamp.com', 'artist.bandcamp.com', 'popplers5.bandcamp.com', 't4.bcbits.com', 'f4.bcbits.com'],
    handle: async (exchange) => {
      const { host, path } = exchange;
      const [, kind, name = ''] = path.split('/');
      const track = kind === 'track' ? TRACKS[name] : undefined;
      if (host === 'f4.bcbits.com') await sendFile(exchange, 'square.jpg');
      else if (path.startsWith('/statdownload/')) stat(exchange);
      else if (host === 't4.bcbits.com' || host === 'popplers5.bandcamp.com') await media(exchange);
      else if (path === '/api/player/2/player_data_web') json(exchange, SHOW);
      else if (!isBrowser(exchange)) html(exchange, '', '<title>Client Challenge</title>');
      else if (path === '/download') html(exchange, dataOf('blob', DOWNLOADS));
      else if (path === '/album/album') html(exchange, dataOf('tralbum', albumData()));
      else if (!track) send(exchange, 'text/html', 'Sorry, that something is not here', 404);
      else if (track.pageStatus) send(exchange, 'text/html', 'Slow down', track.pageStatus);
      else html(exchange, dataOf('tralbum', trackData(track)) + dataOf('embed', EMBED), IMAGE);
    },
  };
}

/** yt-dlp sends this header only where it imitates a browser, handshake included. */
const isBrowser = ({ request }: SiteExchange): boolean => request.headers['sec-ch-ua'] !== undefined;

/** A free download is prepared, which this waits for. */
function stat(exchange: SiteExchange): void {
  const { enc = '' } = Object.fromEntries(exchange.url.searchParams);
  const body = JSON.stringify({
    result: 'ok',
    retry_url: `https://popplers5.bandcamp.com/download/track?enc=${enc}&token=${TOKEN}`,
  });
  send(exchange, 'text/javascript', `if (window.Downloads) Downloads.statResult(${body})`);
}

const IMAGE = '<meta property="og:image" content="https://f4.bcbits.com/img/a1_5.jpg">';
const dataOf = (name: string, value: object): string =>
  `<div data-${name}="${JSON.stringify(value).replaceAll('"', '&quot;')}"></div>`;

const EMBED = { artist: 'Artist', album_title: 'Album' };

const streamUrl = (encoding: string): string =>
  `https://t4.bcbits.com/stream/0123456789abcdef/mp3-128/1?enc=${encoding}&token=${TOKEN}`;

const trackData = ({ id, title, isFree, isUnreleased }: Track): object => ({
  id,
  artist: 'Artist',
  current: { publish_date: '21 Nov 2026 10:00:00 GMT' },
  ...(isFree && { freeDownloadPage: 'https://bandcamp.com/download?id=1' }),
  trackinfo: [
    {
      track_id: id,
      title,
      track_num: id,
      duration: DURATION_SECONDS,
      file: isUnreleased ? null : { 'mp3-128': streamUrl('mp3-128') },
    },
  ],
});

const albumData = (): object => ({
  current: { title: 'Album' },
  trackinfo: ALBUM.map((name) => ({
    track_id: TRACKS[name]?.id,
    title: TRACKS[name]?.title,
    title_link: `/track/${name}`,
    duration: TRACKS[name]?.isUnreleased ? 0 : DURATION_SECONDS,
  })),
});

const DOWNLOADS = {
  download_formats: Object.entries(FILES).map(([name, [extension]]) => ({ name, file_extension: extension })),
  digital_items: [
    {
      title: 'Free',
      downloads: Object.fromEntries(
        Object.keys(FILES).map((name) => [
          name,
          {
            encoding_name: name,
            url: `https://popplers5.bandcamp.com/download/track?enc=${name}&id=1`,
            size_mb: '0.1MB',
          },
        ]),
      ),
    },
  ],
};

const SHOW = {
  tracklist: {
    title: 'Episode',
    subtitle: 'Weekly',
    date: '2026-11-21',
    imageId: 1,
    compiledTrack: { streamUrl: streamUrl('mp3-128'), duration: DURATION_SECONDS + 2 },
  },
};
