import { send, sendFile } from '../../origin/respond.ts';
import { type RecordedSite, recordedSite } from '../recorded-site.ts';

export const watchUrl = (id: string): string => `https://www.youtube.com/watch?v=${id}`;

/** The formats of most videos, and what the service streams of them. */
export const ALL = {
  ytDlp: ['18', '134', '136', '140', '140-drc', '251'],
  video: ['136+140', '18', '134+140'],
  audio: ['251', '140'],
};

const LIVE_URL = 'https://manifest.googlevideo.com/api/manifest';
/** Of one second each, in all and at once. */
const SEGMENTS = 6;
const WINDOW = 3;
const VARIANT = '#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=25';

/**
 * YouTube, as far as yt-dlp asks it. Its live stream goes on by one segment for an address that has got the last one listed,
 * and then ends: yt-dlp and the service see the same, whenever they ask.
 */
export async function createYoutube(): Promise<RecordedSite> {
  const site = await recordedSite('youtube');
  const { mediaDir } = site;
  /** Segments up to the last one that an address has requested. */
  const sentTo = new Map<string, number>();
  const playlist = (client: string): string => {
    const first = Math.min(Math.max((sentTo.get(client) ?? 0) - WINDOW + 1, 0), SEGMENTS - WINDOW);
    const listed = Array.from({ length: WINDOW }, (_, index) => `#EXTINF:1,\n${LIVE_URL}/segment/${first + index}.ts`);
    const end = first === SEGMENTS - WINDOW ? ['#EXT-X-ENDLIST'] : [];
    const head = ['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:1', `#EXT-X-MEDIA-SEQUENCE:${first}`];
    return [...head, ...listed, ...end, ''].join('\n');
  };
  return {
    ...site,
    handle: async (exchange) => {
      const { host, path, client } = exchange;
      const m3u8 = (text: string) => send(exchange, 'application/vnd.apple.mpegurl', text);
      const name = path.split('/').at(-1) ?? '';
      if (host !== 'manifest.googlevideo.com') return site.handle(exchange);
      if (path.includes('/hls_variant/'))
        return m3u8(`#EXTM3U\n${VARIANT}\n${LIVE_URL}/hls_playlist/itag/94/index.m3u8\n`);
      if (path.includes('/hls_playlist/')) return m3u8(playlist(client));
      sentTo.set(client, Math.max(sentTo.get(client) ?? 0, Number.parseInt(name, 10) + 1));
      return sendFile({ ...exchange, mediaDir }, name);
    },
  };
}
