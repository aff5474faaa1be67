import { join } from 'node:path';
import { madeBy } from '../../origin/media.ts';
import { json, send, sendFile } from '../../origin/respond.ts';
import { FASTSTART, fragmentedHls, H264, picture, sine } from '../recipes.ts';
import type { Site, SiteExchange } from '../site.ts';

interface Post {
  /** Why the post is not shown. */
  readonly unavailable?: string;
  /** A sentence in place of the post. */
  readonly tombstone?: string;
  /** Of the API, and of the one for pages that embed a post. */
  readonly statuses?: readonly [api: number, embeds: number];
  readonly media?: readonly object[];
}

const VIDEO = 'https://video.twimg.com/ext_tw_video';
const file = (id: number, name: string, bitrate: number) => ({
  content_type: 'video/mp4',
  url: `${VIDEO}/${id}/pu/vid/avc1/${name}.mp4?tag=12`,
  bitrate,
});
const video = (id: number, variants: readonly object[]) => ({
  id_str: String(id),
  type: 'video',
  media_url_https: `https://pbs.twimg.com/${id}/img.jpg`,
  video_info: { duration_millis: 6000, variants },
});
const playlist = (id: number) => ({
  content_type: 'application/x-mpegURL',
  url: `${VIDEO}/${id}/pu/pl/master.m3u8?tag=12`,
});
const files = (id: number) => [file(id, '320x180/low', 256_000), file(id, '640x360/high', 832_000)];
const gif = { ...video(4, [file(4, '320x180/gif', 0)]), type: 'animated_gif' };

/** By id. */
const POSTS: Readonly<Record<string, Post>> = {
  '101': { media: [video(1, [...files(1), playlist(1)])] },
  '102': { media: [video(2, files(2)), video(3, [file(3, '640x360/second', 832_000)])] },
  '103': { media: [gif] },
  '104': { media: [video(5, files(5))], statuses: [429, 200] },
  '201': { unavailable: 'NsfwLoggedOut' },
  '202': { unavailable: 'Protected' },
  '203': { tombstone: 'This Post was deleted by the Post author. Learn more' },
  '204': { tombstone: 'Age-restricted adult content. This content might not be appropriate for all. Learn more' },
  '205': { statuses: [429, 429] },
  '206': { media: [] },
};

const MEDIA = [
  [...picture('320x180'), ...sine(440), ...H264, '-b:v', '100k', ...FASTSTART, 'low.mp4'],
  [...picture('640x360'), ...sine(440), ...H264, '-b:v', '300k', ...FASTSTART, 'high.mp4'],
  [...picture('640x360'), ...sine(880), ...H264, '-b:v', '250k', ...FASTSTART, 'second.mp4'],
  [...picture('320x180'), ...H264, '-b:v', '80k', ...FASTSTART, 'gif.mp4'],
  [...picture('640x360'), ...H264, '-b:v', '200k', ...fragmentedHls('picture')],
  [...sine(440), '-c:a', 'aac', '-b:a', '128k', ...fragmentedHls('sound')],
];
const MASTER = `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MEDIA:NAME="Audio",TYPE=AUDIO,GROUP-ID="audio-128000",AUTOSELECT=YES,URI="sound.m3u8"
#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=300000,BANDWIDTH=400000,RESOLUTION=640x360,CODECS="mp4a.40.2,avc1.42c01e",AUDIO="audio-128000"
picture.m3u8
`;

const GUEST_TOKEN = '1000000000000000001';

/** X, as far as yt-dlp asks it: guest tokens, its API, that of embedded posts, and videos as files and HLS. */
export async function createX(): Promise<Site> {
  const mediaDir = await madeBy(MEDIA);

  const api = (exchange: SiteExchange): void => {
    const { tweetId } = JSON.parse(exchange.url.searchParams.get('variables') ?? '{}');
    const { statuses: [status] = [200], ...post } = POSTS[tweetId] ?? {};
    if (exchange.request.headers['x-guest-token'] !== GUEST_TOKEN) json(exchange, { errors: [] }, 403);
    else json(exchange, { data: { tweetResult: { result: resultOf(post) } } }, status);
  };

  const embeddedPost = (exchange: SiteExchange): void => {
    const id = exchange.url.searchParams.get('id') ?? '';
    const { statuses: [, status] = [404, 404], media } = POSTS[id] ?? {};
    json(exchange, { text: 'A post', user: USER, mediaDetails: media }, status);
  };

  return {
    hosts: ['x.com', 'api.x.com', 'video.twimg.com', 'cdn.syndication.twimg.com', 'pbs.twimg.com'],
    handle: async (exchange) => {
      const { host, path } = exchange;
      const name = path.split('/').at(-1) ?? '';
      if (path === '/1.1/guest/activate.json') json(exchange, { guest_token: GUEST_TOKEN });
      else if (path.startsWith('/i/api/graphql/')) api(exchange);
      else if (host === 'cdn.syndication.twimg.com') embeddedPost(exchange);
      else if (name === 'master.m3u8') send(exchange, 'application/x-mpegURL', MASTER);
      else await sendFile({ ...exchange, mediaDir }, join('/', name));
    },
  };
}

const USER = { name: 'Someone', screen_name: 'someone', id_str: '1' };

function resultOf({ unavailable, tombstone, media }: Post): object {
  if (unavailable) return { __typename: 'TweetUnavailable', reason: unavailable };
  if (tombstone) return { __typename: 'TweetTombstone', tombstone: { text: { text: tombstone } } };
  const legacy = { full_text: 'A post', created_at: 'Thu Jan 01 00:00:00 +0000 2026', extended_entities: { media } };
  return { __typename: 'Tweet', legacy, core: { user_results: { result: { legacy: USER } } } };
}
