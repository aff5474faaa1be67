import { madeBy } from '../../origin/media.ts';
import { json, send, sendFile } from '../../origin/respond.ts';
import { FASTSTART, H264, picture, sine } from '../recipes.ts';
import type { Site, SiteExchange } from '../site.ts';

const MEDIA = [[...picture('640x360'), ...sine(440), ...H264, '-b:v', '300k', ...FASTSTART, '360.mp4']];
const VTT = 'WEBVTT\n\n00:00.000 --> 00:02.000\nHello\n';

export const PEERTUBE = 'https://peertube.cpy.re/videos/watch';
export const LOOM = 'https://www.loom.com/share';
const BLUESKY = 'https://bsky.app/profile/did:plc:abcdefghijklmnopqrstuvwx/post';
export const blueskyPost = (id: string): string => `${BLUESKY}/${id}`;
export const BITCHUTE = 'https://www.bitchute.com/video';
/** An id of PeerTube. */
export const uuidOf = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;
/** An id of Loom. */
export const loomId = (number: number): string => `${number}`.padStart(32, '0');

/** Problem details of PeerTube, by the number of the video. */
const REFUSALS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  [uuidOf(2)]: [403, 'Cannot fetch this private video'],
  [uuidOf(3)]: [404, 'Video not found'],
};

/** PeerTube, Loom, BitChute and Bluesky, as far as yt-dlp asks them: all by JSON, captions and reasons included. */
export async function createJsonApi(): Promise<Site> {
  const mediaDir = await madeBy(MEDIA);

  const peertube = async (exchange: SiteExchange): Promise<void> => {
    const [, id = '', part] = /^\/api\/v1\/videos\/([^/]+)\/(\w*)$/.exec(exchange.path) ?? [];
    const [status, detail] = REFUSALS[id] ?? [];
    if (status) {
      const problem = JSON.stringify({ type: 'about:blank', title: 'Forbidden', detail, status });
      send(exchange, 'application/problem+json; charset=utf-8', problem, status);
    } else if (part === 'captions') {
      const captions = ['fr', 'en'].map((language) => ({
        language: { id: language },
        captionPath: `/lazy-static/video-captions/${language}.vtt`,
      }));
      json(exchange, { total: 2, data: captions });
    } else if (id) {
      const file = { fileUrl: 'https://peertube.cpy.re/static/360.mp4', resolution: { label: '360p' }, fps: 25 };
      json(exchange, { name: 'Video', duration: 6, files: [file] });
    } else if (exchange.path.endsWith('.vtt')) send(exchange, 'text/vtt', VTT);
    else await sendFile({ ...exchange, mediaDir }, '360.mp4');
  };

  const loom = async (exchange: SiteExchange): Promise<void> => {
    const data = {
      GetVideoSSR: { getVideo: { name: 'Recording', video_properties: { duration: 6, width: 640, height: 360 } } },
      GetVideoSource: { getVideo: { nullableRawCdnUrl: { url: 'https://www.loom.com/cdn/360.mp4' } } },
      FetchChapters: {},
      FetchVideoTranscript: { fetchVideoTranscript: { captions_source_url: 'https://www.loom.com/cdn/en.vtt' } },
    }[String(exchange.request.headers['graphql-operation-name'])];
    if (data) json(exchange, { data });
    else if (exchange.path.endsWith('.vtt')) send(exchange, 'text/vtt', VTT);
    else if (exchange.path === '/cdn/360.mp4') await sendFile({ ...exchange, mediaDir }, '360.mp4');
    else json(exchange, {}, 404);
  };

  // Its API names a host that has not the file.
  const bitchute = async (exchange: SiteExchange): Promise<void> => {
    if (exchange.host === 'seed126.bitchute.com') await sendFile({ ...exchange, mediaDir }, '360.mp4');
    else if (exchange.host !== 'api.bitchute.com') json(exchange, {}, 404);
    else json(exchange, { media_url: 'https://seed122.bitchute.com/360.mp4', video_name: 'Video' });
  };

  return {
    hosts: ['peertube.cpy.re', 'www.loom.com', '*.bitchute.com', 'public.api.bsky.app'],
    handle: async (exchange) => {
      const message = 'Post not found: at://did:plc:abcdefghijklmnopqrstuvwx/app.bsky.feed.post/deleted';
      if (exchange.host === 'public.api.bsky.app') json(exchange, { error: 'NotFound', message }, 400);
      else if (exchange.host === 'www.loom.com') await loom(exchange);
      else if (exchange.host.endsWith('.bitchute.com')) await bitchute(exchange);
      else await peertube(exchange);
    },
  };
}
