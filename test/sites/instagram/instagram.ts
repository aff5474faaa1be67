import { html, json, redirect, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

/** What makes a post special. */
interface Post {
  /** What the site says before a post that it does not show. */
  readonly ruling?: { readonly title: string; readonly description: string };
  /** Only a picture. */
  readonly isPicture?: boolean;
  /** Number of videos. */
  readonly videos?: number;
  /** The page of the post asks to sign in after too many requests. */
  readonly isThrottled?: boolean;
}

/** By shortcode. */
const POSTS = {
  Bplainreel1: {},
  Bseveralvid: { videos: 2 },
  Bpicture001: { isPicture: true },
  Brestricted: { ruling: { title: 'Restricted Video', description: 'You must be 18 years old or over to see this' } },
  Bremovedpos: { ruling: { title: 'Post unavailable', description: 'The link may be broken, or it was removed' } },
  Bthrottled1: { isThrottled: true },
} as const satisfies Record<string, Post>;

export type Shortcode = keyof typeof POSTS;

/** The number of a shortcode, which the API takes: base 64 of 6 bits per character. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const numberOf = (shortcode: string): string =>
  [...shortcode].reduce((sum, each) => sum * 64n + BigInt(ALPHABET.indexOf(each)), 0n).toString();
const POSTS_BY_NUMBER: ReadonlyMap<string, Post> = new Map(
  Object.entries(POSTS).map(([shortcode, post]) => [numberOf(shortcode), post]),
);

const LSD_TOKEN = 'lsd-token';
const CSRF_TOKEN = 'csrf-token';
const MANIFEST = (url: (file: string) => string) =>
  `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT8S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
<Period duration="PT8S">
<AdaptationSet contentType="video" mimeType="video/mp4"><Representation id="v360" bandwidth="200000" codecs="avc1.42C01E" width="640" height="360" mimeType="video/mp4"><BaseURL>${url('ladder/h264-360.mp4')}</BaseURL></Representation></AdaptationSet>
<AdaptationSet contentType="audio" mimeType="audio/mp4"><Representation id="a128" bandwidth="128000" codecs="mp4a.40.2" audioSamplingRate="48000" mimeType="audio/mp4"><BaseURL>${url('ladder/aac-128.m4a')}</BaseURL></Representation></AdaptationSet>
</Period></MPD>`.replaceAll('&file', '&amp;file');

/** Instagram without a login, as far as yt-dlp asks it: tokens of the page, the API for browsers, and media. */
export function createInstagram(): Site {
  const graphql = (exchange: SiteExchange): void => {
    const form = new URLSearchParams(exchange.body);
    const { headers } = exchange.request;
    const isKnown = headers['x-csrftoken'] === CSRF_TOKEN && form.get('lsd') === LSD_TOKEN && isBrowser(exchange);
    const number = JSON.parse(form.get('variables') ?? '{}').media_id;
    const post = POSTS_BY_NUMBER.get(number);
    const isShown = isKnown && post && !post.ruling && !post.isThrottled;
    json(exchange, {
      data: { xig_polaris_media: isShown ? { if_not_gated_logged_out: product(number, post) } : null },
    });
  };

  return {
    hosts: ['www.instagram.com', 'instagram.com', '*.cdninstagram.com'],
    handle: async (exchange) => {
      const { host, path, url } = exchange;
      if (host.endsWith('.cdninstagram.com')) await sendFile(exchange, url.searchParams.get('file') ?? '');
      else if (!isBrowser(exchange)) send(exchange, 'text/plain', 'Please wait a few minutes', 429);
      else if (path === '/') html(exchange, `<script id="__eqmc">${JSON.stringify({ l: LSD_TOKEN })}</script>`);
      else if (path === '/api/v1/web/get_ruling_for_content/') rule(exchange);
      else if (path === '/api/graphql') graphql(exchange);
      else if (path.startsWith('/accounts/login')) html(exchange, 'Log in');
      else if (path === '/p/Bthrottled1') redirect(exchange, 'https://www.instagram.com/accounts/login/');
      else html(exchange, 'Post');
    },
  };
}

/** yt-dlp sends this header only where it imitates a browser, handshake included. */
const isBrowser = ({ request }: SiteExchange): boolean => request.headers['sec-ch-ua'] !== undefined;

function rule(exchange: SiteExchange): void {
  const { ruling } = POSTS_BY_NUMBER.get(exchange.url.searchParams.get('target_id') ?? '') ?? {};
  exchange.response.setHeader('set-cookie', `csrftoken=${CSRF_TOKEN}; Domain=.instagram.com; Path=/; Secure`);
  json(exchange, { status: 'ok', ...ruling });
}

const mediaUrl = (file: string): string => `https://scontent-1.cdninstagram.com/o1/v/t2?efg=1&file=${file}`;

function product(number: string, { isPicture, videos = 1 }: Post): object {
  const video = (pk: string, file: string) => ({
    pk,
    video_versions: [{ id: '101', width: 320, height: 180, url: mediaUrl(file) }],
    video_duration: 6,
    image_versions2: { candidates: [{ url: mediaUrl('wide.jpg'), width: 640, height: 360 }] },
  });
  const post = { pk: number, user: { username: 'someone', full_name: 'Some One', pk: '1' }, taken_at: 1_700_000_000 };
  if (isPicture) return post;
  const files = ['clip.mp4', 'ladder/both-360.mp4'];
  if (videos > 1)
    return {
      ...post,
      carousel_media: files.map((file, index) => video(String(BigInt(number) + BigInt(index + 1)), file)),
    };
  return { ...post, ...video(number, 'clip.mp4'), video_duration: 8, video_dash_manifest: MANIFEST(mediaUrl) };
}
