import { html, json, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

/** What makes a video special. */
interface Video {
  /** `trueCode` of the error that the page contains instead of a video. */
  readonly pageError?: number;
  /** Status of the page. */
  readonly pageStatus?: number;
  /** The page asks to solve a challenge after too many requests. */
  readonly isThrottled?: boolean;
  /** Code of the API that lists formats. */
  readonly apiCode?: number;
  readonly isForSupporters?: boolean;
  /** Titles of the parts. */
  readonly parts?: readonly string[];
  /** One MP4 file, as of old videos. */
  readonly isProgressive?: boolean;
  /** Several files, one after the other, as of the oldest videos. */
  readonly isInFiles?: boolean;
}

/** By id. */
const VIDEOS = {
  BV1plain00001: {},
  BV1parts00001: { parts: ['First', 'Second'] },
  BV1oldmp40001: { isProgressive: true },
  BV1files00001: { isInFiles: true },
  BV1deleted001: { pageError: -404 },
  BV1members001: { pageError: -403 },
  BV1support001: { isForSupporters: true },
  BV1toofast001: { isThrottled: true },
  BV1banned0001: { pageStatus: 412 },
  BV1riskctl001: { apiCode: -352 },
} as const satisfies Record<string, Video>;

export type VideoId = keyof typeof VIDEOS;

export const videoUrl = (id: VideoId): string => `https://www.bilibili.com/video/${id}`;

const videoOf = (id: string): Video | undefined => (id in VIDEOS ? VIDEOS[id as VideoId] : undefined);

const SUPPORT = { show_info: { high_level: { title: '充电专属视频', sub_title: '为UP主充电即可观看' } } };
const SUBTITLE = { body: [{ from: 1, to: 3, content: 'Hello' }] };
const DANMAKU = '<?xml version="1.0" encoding="UTF-8"?><i><d p="1.0,1,25,16777215,0,0,0,0">Hello</d></i>';
const LIFETIME_SECONDS = 7_200;

/** Bilibili, as far as yt-dlp asks it: video pages, the API of formats and subtitles, and media that needs a Referer. */
export function createBilibili(): Site {
  const api: Readonly<Record<string, (exchange: SiteExchange, video: Video) => void>> = {
    '/x/web-interface/nav': (exchange) => {
      const image = (name: string) => `https://i0.hdslb.com/bfs/wbi/${name.repeat(4)}.png`;
      json(exchange, { code: -101, data: { wbi_img: { img_url: image('abcdefgh'), sub_url: image('01234567') } } });
    },
    '/x/player/pagelist': (exchange, video) => json(exchange, { code: 0, data: partsOf(video) }),
    '/x/player/wbi/playurl': (exchange, video) => {
      const { apiCode: code = 0 } = video;
      const isSigned = exchange.url.searchParams.has('w_rid');
      if (!isSigned || code !== 0) json(exchange, { code: code || -403, message: String(code || -403) });
      else json(exchange, { code, data: playInfo(video, exchange.url.searchParams.get('cid') ?? '') });
    },
    '/x/player/wbi/v2': (exchange) =>
      json(exchange, {
        code: 0,
        data: { subtitle: { subtitles: [{ lan: 'en', subtitle_url: 'https://i0.hdslb.com/bfs/subtitle/1.json' }] } },
      }),
  };

  const media = async (exchange: SiteExchange): Promise<void> => {
    const { referer = '' } = exchange.request.headers;
    const { deadline, file = '' } = Object.fromEntries(exchange.url.searchParams);
    const isRefused = !referer.startsWith('https://www.bilibili.com/') || Date.now() / 1000 > Number(deadline);
    if (isRefused) send(exchange, 'text/plain', '', 403);
    else await sendFile(exchange, file);
  };

  return {
    hosts: ['www.bilibili.com', 'api.bilibili.com', 'comment.bilibili.com', 'i0.hdslb.com', '*.bilivideo.com'],
    handle: async (exchange) => {
      const { host, path, url } = exchange;
      const id = url.searchParams.get('bvid') ?? path.split('/')[2] ?? '';
      const call = host === 'api.bilibili.com' ? api[path] : undefined;
      if (host.endsWith('.bilivideo.com')) await media(exchange);
      else if (host === 'comment.bilibili.com') send(exchange, 'text/xml', DANMAKU);
      else if (path === '/bfs/subtitle/1.json') json(exchange, SUBTITLE);
      else if (host === 'i0.hdslb.com') await sendFile(exchange, 'wide.jpg');
      else if (call) call(exchange, videoOf(id) ?? {});
      else if (path.startsWith('/video/')) page(exchange, id);
      else send(exchange, 'text/plain', 'Not found', 404);
    },
  };
}

const partsOf = ({ parts = ['Only'] }: Video): object[] =>
  parts.map((part, index) => ({ cid: index + 1, page: index + 1, part }));

function page(exchange: SiteExchange, id: string): void {
  const video: Video = videoOf(id) ?? { pageError: -404 };
  const { pageStatus, isThrottled } = video;
  const pages = partsOf(video);
  const state = {
    error: video.pageError === undefined ? {} : { trueCode: video.pageError },
    elecFullInfo: SUPPORT,
    upData: { name: 'Uploader', mid: '1' },
    videoData: {
      bvid: id,
      aid: 1,
      cid: 1,
      title: 'Video',
      desc: 'About it',
      pubdate: 1_700_000_000,
      pages,
      pic: 'https://i0.hdslb.com/bfs/archive/1.jpg',
      is_upower_exclusive: video.isForSupporters === true,
    },
  };
  if (pageStatus !== undefined) send(exchange, 'text/html', 'The request was blocked', pageStatus);
  else if (isThrottled) html(exchange, '<script>window._riskdata_={"v_voucher":"voucher"}</script>');
  else html(exchange, `<script>window.__INITIAL_STATE__=${JSON.stringify(state)};(function(){})()</script>`);
}

const mediaUrl = (name: string, file: string): string => {
  const deadline = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
  return `https://upos-sz-mirror.bilivideo.com/upgcxcode/1/1/${name}?deadline=${deadline}&file=${file}&upsig=signature`;
};

function playInfo({ isProgressive, isInFiles, isForSupporters }: Video, cid: string): object {
  if (isForSupporters) return { timelength: 0 };
  const file = (name: string, path: string, seconds: number) => ({
    order: 1,
    length: seconds * 1000,
    url: mediaUrl(name, path),
  });
  if (isInFiles) {
    const durl = [file('1-1-64.mp4', 'clip.mp4', 6), file('1-2-64.mp4', 'ladder/both-360.mp4', 8)];
    return { quality: 64, timelength: 14_000, accept_quality: [64], durl };
  }
  if (isProgressive)
    return { quality: 16, timelength: 6_000, accept_quality: [16], durl: [file('1-1-16.mp4', 'clip.mp4', 6)] };

  const video = (id: number, name: number, [width, height]: readonly number[], path: string) => ({
    id,
    baseUrl: mediaUrl(`${cid}-1-${name}.m4s`, path),
    mimeType: 'video/mp4',
    codecs: 'avc1.64001F',
    bandwidth: width,
    frameRate: '25',
    width,
    height,
  });
  const audio = (id: number, path: string) => ({
    id,
    baseUrl: mediaUrl(`${cid}-1-${id}.m4s`, path),
    mimeType: 'audio/mp4',
    codecs: 'mp4a.40.2',
    bandwidth: id,
  });
  // The second part differs from the first.
  return cid === '2'
    ? {
        timelength: 6_000,
        dash: { video: [video(16, 100022, [320, 180], 'silent.mp4')], audio: [audio(30216, 'tone.m4a')] },
      }
    : {
        timelength: 8_000,
        dash: {
          video: [video(32, 100024, [640, 360], 'ladder/h264-360.mp4'), video(16, 100022, [320, 180], 'silent.mp4')],
          audio: [audio(30280, 'ladder/aac-128.m4a'), audio(30216, 'ladder/aac-48.m4a')],
        },
      };
}
