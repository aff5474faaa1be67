import { join } from 'node:path';
import { madeBy } from '../../origin/media.ts';
import { html, send, sendFile } from '../../origin/respond.ts';
import { FASTSTART, fragmentedHls, H264, picture, sine } from '../recipes.ts';
import type { Site, SiteExchange } from '../site.ts';

interface Video {
  /** May be played in pages of this host alone. */
  readonly embeddedIn?: string;
  readonly hasPassword?: boolean;
  readonly isUpcoming?: boolean;
  /** Of the player. */
  readonly status?: number;
}

/** By id. */
const VIDEOS: Readonly<Record<string, Video>> = {
  '101': {},
  '102': { embeddedIn: 'embedder.example' },
  '201': { hasPassword: true },
  '202': { isUpcoming: true },
  '203': { status: 429 },
};

const DASH = ['-f', 'dash', '-seg_duration', '2', '-use_template', '1', '-use_timeline', '1'];
const MEDIA = [
  [...picture('640x360'), ...sine(440), ...H264, '-b:v', '300k', ...FASTSTART, 'file-360.mp4'],
  [...picture('640x360'), ...H264, '-b:v', '250k', ...fragmentedHls('picture')],
  [...sine(440), '-b:a', '96k', ...fragmentedHls('sound')],
  [
    ...[...picture('1280x720'), ...sine(440), ...H264, '-b:v', '500k', '-b:a', '128k', ...DASH],
    ...['-adaptation_sets', 'id=0,streams=v id=1,streams=a', 'master.mpd'],
  ],
];
const MASTER = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio-high",NAME="Original",DEFAULT=YES,AUTOSELECT=YES,URI="sound.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=400000,AVERAGE-BANDWIDTH=350000,RESOLUTION=640x360,CODECS="avc1.42C01E,mp4a.40.2",AUDIO="audio-high"
picture.m3u8
`;

/** Vimeo, as far as yt-dlp asks it: players, which know the page around them, and media below a signed path. */
export async function createVimeo(): Promise<Site> {
  const mediaDir = await madeBy(MEDIA);
  return {
    hosts: ['vimeo.com', 'player.vimeo.com', 'vod-adaptive-ak.vimeocdn.com', 'embedder.example'],
    handle: async (exchange) => {
      const { host, path } = exchange;
      const name = path.split('/').at(-1) ?? '';
      if (host === 'embedder.example') html(exchange, `<iframe src="https://player.vimeo.com/video/${name}"></iframe>`);
      else if (host === 'player.vimeo.com') player(exchange);
      else if (host === 'vimeo.com') html(exchange, '<div id="app"></div>');
      else if (!path.startsWith(SIGNED)) send(exchange, 'text/plain', '', 403);
      else if (name === 'playlist.m3u8') send(exchange, 'application/vnd.apple.mpegurl', MASTER);
      else await sendFile({ ...exchange, mediaDir }, join('/', name));
    },
  };
}

function player(exchange: SiteExchange): void {
  const id = exchange.path.split('/').at(-1) ?? '';
  const { embeddedIn, status = 200, ...video } = VIDEOS[id] ?? { status: 404 };
  const referer = exchange.request.headers.referer ?? '';
  if (status !== 200) send(exchange, 'text/html', 'Sorry', status);
  else if (embeddedIn && !referer.startsWith(`https://${embeddedIn}/`))
    send(exchange, 'text/html', 'Because of its privacy settings, this video cannot be played here.', 403);
  else html(exchange, `<script>window.playerConfig = ${JSON.stringify(config(id, video))}</script>`);
}

const SIGNED = '/exp=1800000000~acl=%2F1%2F%2A~hmac=0a0a/1/';
const MEDIA_URL = `https://vod-adaptive-ak.vimeocdn.com${SIGNED}`;

const config = (id: string, { hasPassword, isUpcoming }: Video): object => {
  if (hasPassword) return { view: 4 };
  const video = {
    id: Number(id),
    title: 'A video',
    duration: 6,
    width: 1280,
    height: 720,
    thumbs: {},
    owner: { name: 'Someone', url: 'https://vimeo.com/someone' },
    ...(isUpcoming && { live_event: { status: 'pending', ingest: { scheduled_start_time: '2036-01-01T00:00:00Z' } } }),
  };
  const files = {
    progressive: [{ url: `${MEDIA_URL}file-360.mp4`, quality: '360p', width: 640, height: 360, fps: 25 }],
    hls: { cdns: { akfire: { url: `${MEDIA_URL}v2/playlist/av/primary/playlist.m3u8` } } },
    dash: { cdns: { akfire: { url: `${MEDIA_URL}v2/playlist/av/primary/master.json?omit=av1` } } },
  };
  return { view: 1, video, request: { files: isUpcoming ? {} : files } };
};
