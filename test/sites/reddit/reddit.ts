import { join } from 'node:path';
import { madeBy } from '../../origin/media.ts';
import { json, redirect, send, sendFile } from '../../origin/respond.ts';
import { H264, HLS, picture, sine } from '../recipes.ts';
import type { Site, SiteExchange } from '../site.ts';

interface Post {
  /** Of its subreddit. */
  readonly refusal?: { readonly status: number; readonly reason: string };
  /** A page instead of data. */
  readonly isBlocked?: boolean;
  readonly isText?: boolean;
  readonly isSilent?: boolean;
  /** In a text. */
  readonly embeddedVideo?: string;
  /** A file of another site. */
  readonly file?: string;
}

/** By id. */
const POSTS: Readonly<Record<string, Post>> = {
  video1: {},
  shared: { isSilent: true },
  direct: { isSilent: true },
  embeds: { isText: true, embeddedVideo: 'inside' },
  linked: { file: 'https://files.example/DASH_360.mp4' },
  silent: { isSilent: true },
  hidden: { refusal: { status: 403, reason: 'private' } },
  gated1: { refusal: { status: 403, reason: 'quarantined' } },
  banned: { refusal: { status: 404, reason: 'banned' } },
  robots: { isBlocked: true },
  limits: { refusal: { status: 429, reason: 'Too Many Requests' } },
  words1: { isText: true },
};

export const postUrl = (id: string): string => `https://www.reddit.com/r/videos/comments/${id}/a_post/`;

const FRAGMENTED = ['-movflags', '+dash+global_sidx+frag_keyframe'];
/** Segments are ranges of one file. */
const HLS_RANGES = [...HLS, '-hls_flags', 'single_file'];
const MEDIA = [
  [...picture('1280x720'), ...H264, '-b:v', '600k', ...FRAGMENTED, 'DASH_720.mp4'],
  [...picture('640x360'), ...H264, '-b:v', '300k', ...FRAGMENTED, 'DASH_360.mp4'],
  [...sine(440), '-b:a', '128k', ...FRAGMENTED, 'DASH_AUDIO_128.mp4'],
  [...picture('640x360'), ...H264, '-b:v', '200k', ...HLS_RANGES, 'HLS_360.m3u8'],
  [...sine(440), '-b:a', '64k', ...HLS_RANGES, 'HLS_AUDIO_64.m3u8'],
];

/** Reddit, as far as yt-dlp asks it: posts for those with a session, and videos with their sound in a file of its own. */
export async function createReddit(): Promise<Site> {
  const mediaDir = await madeBy(MEDIA);

  const post = (exchange: SiteExchange): void => {
    const id = /\/comments\/(\w+)/.exec(exchange.path)?.[1] ?? '';
    const { refusal, isBlocked, ...shown } = POSTS[id] ?? { refusal: { status: 404, reason: 'Not Found' } };
    if (isBlocked || !exchange.request.headers.cookie?.includes('loid='))
      send(exchange, 'text/html', '<h1>whoa there, pardner!</h1>', 403);
    else if (refusal) json(exchange, { reason: refusal.reason, message: '', error: refusal.status }, refusal.status);
    else json(exchange, [{ data: { children: [{ data: data(id, shown) }] } }]);
  };

  return {
    hosts: ['www.reddit.com', 'old.reddit.com', 'v.redd.it', 'files.example'],
    handle: async (exchange) => {
      const { host, path, response } = exchange;
      if (path === '/direct' || path.includes('/s/')) redirect(exchange, postUrl(path.split('/').at(-1) ?? ''));
      else if (host === 'files.example') await sendFile({ ...exchange, mediaDir }, path);
      else if (host === 'v.redd.it') await video({ ...exchange, mediaDir });
      else if (path.endsWith('.json')) post(exchange);
      else {
        response.setHeader('set-cookie', 'loid=1; Domain=reddit.com; Path=/; Secure');
        send(exchange, 'text/html', 'reddit');
      }
    },
  };
}

async function video(exchange: SiteExchange): Promise<void> {
  const [, id = '', file = ''] = exchange.path.split('/');
  const hasSound = !POSTS[id]?.isSilent;
  if (file === 'DASHPlaylist.mpd') send(exchange, 'application/dash+xml', dashManifest(hasSound));
  else if (file === 'HLSPlaylist.m3u8') send(exchange, 'application/vnd.apple.mpegurl', hlsMaster(hasSound));
  else await sendFile(exchange, join('/', file));
}

const data = (id: string, { isText = false, embeddedVideo, file }: Post): object => ({
  title: 'A post',
  author: 'someone',
  subreddit: 'videos',
  created_utc: 1_767_312_000,
  over_18: false,
  url: isText ? postUrl(id) : (file ?? `https://v.redd.it/${id}`),
  ...(embeddedVideo !== undefined && {
    media_metadata: { a: { id: embeddedVideo, e: 'RedditVideo', hlsUrl: manifest(embeddedVideo, 'HLSPlaylist.m3u8') } },
  }),
  ...(!isText &&
    !file && {
      secure_media: {
        reddit_video: {
          bitrate_kbps: 1200,
          width: 1280,
          height: 720,
          duration: 6,
          fallback_url: `https://v.redd.it/${id}/DASH_720.mp4?source=fallback`,
          dash_url: manifest(id, 'DASHPlaylist.mpd'),
          hls_url: manifest(id, 'HLSPlaylist.m3u8'),
        },
      },
    }),
});

/** With entities of HTML, as the API sends it. */
const manifest = (id: string, name: string) => `https://v.redd.it/${id}/${name}?a=1,b&amp;v=1&amp;f=sd`;

const representation = (attributes: string, file: string) =>
  `<Representation ${attributes}><BaseURL>${file}</BaseURL><SegmentBase/></Representation>`;

const dashManifest = (hasSound: boolean): string => `<?xml version="1.0"?>
<MPD mediaPresentationDuration="PT6S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011" type="static" xmlns="urn:mpeg:dash:schema:mpd:2011">
<Period duration="PT6S"><AdaptationSet contentType="video">
${representation('id="1" mimeType="video/mp4" codecs="avc1.64001f" bandwidth="600000" width="1280" height="720"', 'DASH_720.mp4')}
${representation('id="2" mimeType="video/mp4" codecs="avc1.64001f" bandwidth="300000" width="640" height="360"', 'DASH_360.mp4')}
</AdaptationSet>${
  hasSound
    ? `<AdaptationSet contentType="audio">
${representation('id="3" mimeType="audio/mp4" codecs="mp4a.40.2" bandwidth="128000"', 'DASH_AUDIO_128.mp4')}
</AdaptationSet>`
    : ''
}</Period></MPD>`;

const hlsMaster = (hasSound: boolean): string => `#EXTM3U
#EXT-X-VERSION:4
${hasSound ? '#EXT-X-MEDIA:URI="HLS_AUDIO_64.m3u8",TYPE=AUDIO,GROUP-ID="0",NAME="audio_0",DEFAULT=YES,AUTOSELECT=YES\n' : ''}#EXT-X-STREAM-INF:BANDWIDTH=264000,RESOLUTION=640x360,CODECS="avc1.64001f${hasSound ? ',mp4a.40.2",AUDIO="0"' : '"'}
HLS_360.m3u8
`;
