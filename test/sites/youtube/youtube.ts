import { json, redirect, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';
import { createLive } from './live.ts';
import { type MediaName, makeLiveMedia, makeMedia, sizesOf } from './media.ts';
import { embedPage, IFRAME_API, listData, listPage, NEXT_DATA, PLAYER_SCRIPT, watchPage } from './pages.ts';
import { isSolved, playerResponse } from './player-response.ts';
import { BOT_CHECK, type Video, videoOf } from './videos.ts';

/** The videos of the one playlist. */
const LIST = ['plainplain1', 'botcheckbot', 'captionscc1', 'privatepriv', 'dubsdubsdub'];
const CUES = 'WEBVTT\n\n00:00:01.000 --> 00:00:03.000\nHello\n';
const EVENTS = { events: [{ tStartMs: 1000, dDurationMs: 2000, segs: [{ utf8: 'Hello' }] }] };

/** YouTube, as far as yt-dlp asks it. */
export interface Youtube extends Site {
  /** From now on, media of earlier player calls is 403. */
  expireUrls(): void;
}

/** Creates the site: watch pages, Innertube, media, captions and a playlist. */
export async function createYoutube(): Promise<Youtube> {
  const mediaDir = await makeMedia();
  const sizes = await sizesOf(mediaDir);
  const live = createLive(await makeLiveMedia());
  let calls = 0;
  let expiredCalls = 0;
  /** Epoch milliseconds from which the media of a player call is sent. */
  const availableAt = new Map<string, number>();

  const player = (id: string, video: Video, clientName: string, { client: address }: SiteExchange): object => {
    const call = ++calls;
    if (video.preRollMs !== undefined) availableAt.set(String(call), Date.now() + video.preRollMs);
    const shown = video.blocks === address ? BOT_CHECK : video;
    return playerResponse({ id, video: shown, clientName, address, call, sizes });
  };

  const innertube = (exchange: SiteExchange): void => {
    const { videoId = '', context } = JSON.parse(exchange.body || '{}');
    const video = videoOf(videoId);
    const status = video ? (video.apiStatus ?? 200) : 404;
    if (exchange.path.endsWith('/browse')) json(exchange, listData(LIST));
    else if (!exchange.path.endsWith('/player')) json(exchange, NEXT_DATA);
    else if (video && status === 200) json(exchange, player(videoId, video, context.client.clientName, exchange));
    else json(exchange, { error: { code: status, message: 'Refused' } }, status);
  };

  const watch = (exchange: SiteExchange): void => {
    const id = exchange.url.searchParams.get('v') ?? '';
    const video = videoOf(id);
    if (video) send(exchange, 'text/html; charset=utf-8', watchPage(player(id, video, 'WEB', exchange)));
    else send(exchange, 'text/plain', 'No such video', 404);
  };

  const media = async (exchange: SiteExchange): Promise<void> => {
    const query = Object.fromEntries(exchange.url.searchParams);
    const file = (query.file ?? '') as MediaName;
    const [, last = sizes[file]] = /^bytes=\d+-(\d+)$/.exec(exchange.request.headers.range ?? '') ?? [];
    const video: Video = videoOf(query.id ?? '') ?? {};
    const isRefused =
      Number(query.call) <= expiredCalls ||
      Date.now() < (availableAt.get(query.call ?? '') ?? 0) ||
      (video.isBound === true && query.ip !== exchange.client) ||
      (video.hasChallenges === true && !isSolved(query)) ||
      (video.isGated === true && query.itag !== '18' && Number(last) > (sizes[file] * 2) / 3);
    if (isRefused) send(exchange, 'text/plain', '', 403);
    else await sendFile({ ...exchange, mediaDir }, file);
  };

  const routes: Readonly<Record<string, (exchange: SiteExchange) => void>> = {
    '/watch': watch,
    '/playlist': (exchange) => send(exchange, 'text/html; charset=utf-8', listPage(LIST)),
    '/iframe_api': (exchange) => send(exchange, 'text/javascript', IFRAME_API),
    '/api/timedtext': (exchange) =>
      exchange.url.searchParams.get('fmt') === 'vtt' ? send(exchange, 'text/vtt', CUES) : json(exchange, EVENTS),
  };

  return {
    expireUrls: () => {
      expiredCalls = calls;
    },
    hosts: ['youtube.com', '*.youtube.com', 'youtu.be', 'i.ytimg.com', '*.googlevideo.com'],
    handle: async (exchange) => {
      const { host, path } = exchange;
      const route = routes[path];
      if (host === 'manifest.googlevideo.com') await live(exchange);
      else if (host.endsWith('.googlevideo.com')) await media(exchange);
      else if (Number(exchange.url.searchParams.get('sigh') ?? Infinity) <= expiredCalls)
        send(exchange, 'text/plain', '', 403);
      else if (host === 'i.ytimg.com') await sendFile({ ...exchange, mediaDir }, 'thumbnail.jpg');
      else if (host === 'youtu.be') redirect(exchange, `https://www.youtube.com/watch?v=${path.slice(1)}`);
      else if (path.startsWith('/youtubei/')) innertube(exchange);
      else if (path.startsWith('/embed/')) send(exchange, 'text/html; charset=utf-8', embedPage());
      else if (path.startsWith('/s/player/')) send(exchange, 'text/javascript', PLAYER_SCRIPT);
      else if (route) route(exchange);
      else send(exchange, 'text/plain', 'Not found', 404);
    },
  };
}
