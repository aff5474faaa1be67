import { send, sendFile } from '../../origin/respond.ts';
import type { SiteExchange } from '../site.ts';
import { LIVE_SEGMENTS } from './media.ts';
import { LIVE_URL } from './player-response.ts';

/** Segments that a playlist lists at once. */
const WINDOW = 3;
const VARIANT = '#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=25';

/**
 * Responds as a live stream. It goes on by one segment for an address that has got the last one listed, and then ends: yt-dlp
 * and the service see the same, whenever they ask.
 */
export function createLive(mediaDir: string): (exchange: SiteExchange) => Promise<void> {
  /** Segments up to the last one that an address has requested. */
  const sentTo = new Map<string, number>();

  const playlist = (client: string): string => {
    const first = Math.min(Math.max((sentTo.get(client) ?? 0) - WINDOW + 1, 0), LIVE_SEGMENTS - WINDOW);
    const listed = Array.from({ length: WINDOW }, (_, index) => `#EXTINF:1,\n${LIVE_URL}/segment/${first + index}.ts`);
    const end = first === LIVE_SEGMENTS - WINDOW ? ['#EXT-X-ENDLIST'] : [];
    const head = ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:1', `#EXT-X-MEDIA-SEQUENCE:${first}`];
    return [...head, ...listed, ...end, ''].join('\n');
  };

  const segment = (exchange: SiteExchange): Promise<void> => {
    const name = exchange.path.split('/').at(-1) ?? '';
    sentTo.set(exchange.client, Math.max(sentTo.get(exchange.client) ?? 0, Number.parseInt(name, 10) + 1));
    return sendFile({ ...exchange, mediaDir }, name);
  };

  return async (exchange) => {
    const { path, client } = exchange;
    const m3u8 = (text: string) => send(exchange, 'application/vnd.apple.mpegurl', text);
    if (path.includes('/hls_variant/')) m3u8(`#EXTM3U\n${VARIANT}\n${LIVE_URL}/hls_playlist/itag/94/index.m3u8\n`);
    else if (path.includes('/hls_playlist/')) m3u8(playlist(client));
    else await segment(exchange);
  };
}
