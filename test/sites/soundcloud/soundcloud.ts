import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { madeBy } from '../../origin/media.ts';
import { json, redirect, send, sendFile } from '../../origin/respond.ts';
import { fragmentedHls, sine } from '../recipes.ts';
import type { Site, SiteExchange } from '../site.ts';

interface Track {
  /** Protocol of all formats. */
  readonly protocol?: string;
  readonly policy?: string;
  /** Has to be part of the link. */
  readonly secret?: string;
  /** Status of all requests for URLs of media. */
  readonly urlStatus?: number;
  /** Half a minute of it is for everyone. */
  readonly isPreview?: boolean;
}

/** By the last part of the link. */
const TRACKS: Readonly<Record<string, Track>> = {
  song: {},
  shared: {},
  secret: { secret: 's-abc123' },
  preview: { isPreview: true },
  protected: { protocol: 'ctr-encrypted-hls' },
  elsewhere: { policy: 'BLOCK' },
  busy: { urlStatus: 429 },
  late: {},
  later: {},
};

const API = 'https://api-v2.soundcloud.com';
const PLAYBACK = 'https://playback.media-streaming.soundcloud.cloud';

/** As the site cuts them: the segments say nothing of themselves. */
const BARE_MP3 = ['-segment_format_options', 'write_xing=0:id3v2_version=0'];
const MEDIA = [
  [...sine(440), '-b:a', '128k', 'progressive.mp3'],
  [...sine(440), '-b:a', '160k', ...fragmentedHls('aac')],
  [
    ...sine(440),
    '-b:a',
    '96k',
    ...BARE_MP3,
    '-f',
    'segment',
    '-segment_time',
    '2',
    '-segment_list',
    'mp3.m3u8',
    'mp3-%d.mp3',
  ],
];

export interface Soundcloud extends Site {
  /**
   * Ends the lifetime of every media URL that was handed out.
   * @param file with the request of this one @default now
   */
  expireUrls(file?: string): void;
  /** Requires another id of clients. */
  changeClientId(): void;
}

/** SoundCloud, as far as yt-dlp asks it: an API for those who know the id of its page, and signed URLs of media. */
export async function createSoundcloud(): Promise<Soundcloud> {
  const mediaDir = await madeBy(MEDIA);
  let generation = 1;
  let lastFile: string | undefined;
  let clientId = 'a'.repeat(32);
  const sign = (url: string): string => `${url}?Policy=eyJ&Signature=${generation}&Key-Pair-Id=K1`;

  const resolve = (exchange: SiteExchange): void => {
    const link = new URL(exchange.url.searchParams.get('url') ?? '');
    const [, , name = '', secret] = link.pathname.split('/');
    const track = TRACKS[name];
    if (name === 'sets') json(exchange, SET);
    else if (!track || track.secret !== secret) json(exchange, {}, 404);
    else json(exchange, trackOf(name, track));
  };

  const trackById = (exchange: SiteExchange): void => {
    const [name, track] = Object.entries(TRACKS)[Number(exchange.path.split('/').at(-1)) - 1] ?? [];
    json(exchange, name && track ? trackOf(name, track) : {}, name ? 200 : 404);
  };

  const mediaUrl = (exchange: SiteExchange): void => {
    const [name = '', file = ''] = exchange.path.split('/').slice(2);
    const { urlStatus, secret } = TRACKS[name] ?? {};
    if (urlStatus !== undefined) json(exchange, {}, urlStatus);
    else if (secret && exchange.url.searchParams.get('secret_token') !== secret) json(exchange, {}, 404);
    else json(exchange, { url: sign(`${PLAYBACK}/${file}`) });
  };

  const media = async (exchange: SiteExchange): Promise<void> => {
    const { path, url } = exchange;
    if (path === lastFile) {
      generation++;
      lastFile = undefined;
    }
    if (url.searchParams.get('Signature') !== String(generation)) return send(exchange, 'text/xml', '', 403);
    if (!path.endsWith('.m3u8')) return sendFile({ ...exchange, mediaDir }, path);
    const playlist = await readFile(join(mediaDir, path), 'utf8');
    const signed = playlist.replaceAll(/[\w-]+\.(?:m4s|mp3|mp4)\b/g, (name) => sign(`${PLAYBACK}/${name}`));
    send(exchange, 'application/vnd.apple.mpegurl', signed);
  };

  return {
    hosts: ['soundcloud.com', '*.soundcloud.com', '*.sndcdn.com', '*.media-streaming.soundcloud.cloud'],
    expireUrls: (file) => {
      lastFile = file;
      if (file === undefined) generation++;
    },
    changeClientId: () => {
      clientId = 'b'.repeat(32);
    },
    handle: async (exchange) => {
      const { host, path, url } = exchange;
      if (host === 'on.soundcloud.com') redirect(exchange, `https://soundcloud.com/someone${path}?utm_medium=text`);
      else if (host === 'soundcloud.com')
        send(exchange, 'text/html', '<script crossorigin src="https://a-v2.sndcdn.com/assets/0.js"></script>');
      else if (host === 'a-v2.sndcdn.com') send(exchange, 'text/javascript', `({client_id:"${clientId}"})`);
      else if (host.endsWith('.soundcloud.cloud')) await media(exchange);
      else if (url.searchParams.get('client_id') !== clientId) json(exchange, {}, 401);
      else if (path === '/resolve') resolve(exchange);
      else if (path.startsWith('/tracks/')) trackById(exchange);
      else mediaUrl(exchange);
    },
  };
}

const idOf = (name: string): number => Object.keys(TRACKS).indexOf(name) + 1;

const trackOf = (name: string, { protocol, policy, isPreview = false }: Track): object => {
  const transcoding = (preset: string, ownProtocol: string, mimeType: string, file: string) => ({
    url: `${API}/media/${name}/${file}/stream`,
    preset,
    duration: 6000,
    snipped: isPreview,
    quality: 'sq',
    format: { protocol: protocol ?? ownProtocol, mime_type: mimeType },
  });
  const transcodings = [
    transcoding('aac_160k', 'hls', 'audio/mp4; codecs="mp4a.40.2"', 'aac.m3u8'),
    transcoding('mp3_1_0', 'hls', 'audio/mpeg', 'mp3.m3u8'),
    transcoding('mp3_1_0', 'progressive', 'audio/mpeg', 'progressive.mp3'),
  ];
  return {
    id: idOf(name),
    title: `The ${name}`,
    permalink_url: `https://soundcloud.com/someone/${name}`,
    duration: 6000,
    user: { id: 1, username: 'Someone', permalink_url: 'https://soundcloud.com/someone' },
    media: { transcodings: policy === 'BLOCK' ? [] : transcodings },
    policy: policy ?? 'ALLOW',
  };
};

/** Of the later songs of a set, its page has the ids alone. */
const SET = {
  id: 100,
  title: 'An album',
  set_type: 'album',
  user: { id: 1, username: 'Someone' },
  tracks: [
    { id: idOf('song'), permalink_url: 'https://soundcloud.com/someone/song' },
    ...['protected', 'shared'].map((name) => ({ id: idOf(name) })),
  ],
};
