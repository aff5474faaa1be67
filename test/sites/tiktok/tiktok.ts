import { createHash } from 'node:crypto';
import { html, redirect, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

/** By video id. */
const POSTS: Readonly<Record<string, Post>> = {
  '7000000000000000001': {},
  '7000000000000000009': {},
  /** Pictures with a sound. */
  '7000000000000000002': { isSlideshow: true },
  '7000000000000000008': { hasBrokenDownload: true },
  '7000000000000000003': { statusCode: 10_216 },
  '7000000000000000004': { statusCode: 10_204 },
  '7000000000000000005': { statusCode: 10_231 },
  '7000000000000000006': { isClassified: true },
  '7000000000000000007': { needsLogin: true },
};

interface Post {
  readonly isSlideshow?: boolean;
  /** The file for downloads is not there. */
  readonly hasBrokenDownload?: boolean;
  /** Why there is no video. */
  readonly statusCode?: number;
  /** Not for everyone: only those who are signed in receive the video. */
  readonly isClassified?: boolean;
  readonly needsLogin?: boolean;
}

export const postUrl = (id: string): string => `https://www.tiktok.com/@someone/video/${id}`;

/** Where a link that the site's app shares leads to. */
const SHARED_POST = '7000000000000000009';
export const SHORT_LINK = 'https://vm.tiktok.com/ZMabc123/';

const MEDIA = 'https://v16-webapp-prime.tiktok.com/video';
const CHALLENGE_COOKIE = '_wafchallengeid';
const MEDIA_COOKIE = 'tt_chain_token';

/**
 * TikTok, as far as yt-dlp asks it: pages for browsers alone, after a challenge, and media for those who have the cookie and
 * the address of the page.
 */
export function createTiktok(): Site {
  const tokens = new Set<string>();

  const page = (exchange: SiteExchange): void => {
    const id = exchange.path.split('/').at(-1) ?? '';
    const post = POSTS[id] ?? { statusCode: 10_204 };
    if (!isBrowser(exchange)) send(exchange, 'text/html', 'Access Denied', 403);
    else if (!isSolved(cookieOf(exchange, CHALLENGE_COOKIE))) html(exchange, challenge());
    else if (post.needsLogin) redirect(exchange, '/login');
    else {
      const token = `token-${tokens.size}`;
      tokens.add(token);
      const attributes = 'Domain=.tiktok.com; Path=/; Secure; HttpOnly';
      exchange.response.setHeader('set-cookie', `${MEDIA_COOKIE}=${token}; ${attributes}`);
      html(exchange, '', data(id, post));
    }
  };

  return {
    hosts: ['www.tiktok.com', '*.tiktok.com'],
    handle: async (exchange) => {
      const { host, path, request } = exchange;
      if (host === 'vm.tiktok.com') redirect(exchange, postUrl(SHARED_POST), 301);
      else if (path === '/login') html(exchange, 'Log in');
      else if (host === 'www.tiktok.com') page(exchange);
      else if (tokens.has(cookieOf(exchange, MEDIA_COOKIE)) && request.headers.referer?.includes('tiktok.com/@'))
        await sendFile(exchange, path.replace('/video/', ''));
      else send(exchange, 'text/html', 'Access Denied', 403);
    },
  };
}

/** Or makes the previews of links. The header stands for the fingerprint of TLS. */
const isBrowser = ({ request: { headers } }: SiteExchange): boolean =>
  headers['sec-ch-ua'] !== undefined || headers['user-agent']?.startsWith('facebookexternalhit') === true;

const cookieOf = ({ request }: SiteExchange, name: string): string =>
  new RegExp(`(?:^|; )${name}="?([^";]*)`).exec(request.headers.cookie ?? '')?.[1] ?? '';

const SALT = Buffer.from('salt');
const SOLUTION = '321';

/** A page that only those pass who find the number that belongs to a digest. */
const challenge = (): string => {
  const digest = createHash('sha256').update(SALT).update(SOLUTION).digest('base64');
  const task = JSON.stringify({ v: { a: SALT.toString('base64'), b: 0, c: digest }, s: 'session' });
  const places = { cs: Buffer.from(task).toString('base64'), wci: CHALLENGE_COOKIE, rci: 'waforiginalreid', rs: 'rs' };
  return `Please wait...${Object.entries(places)
    .map(([id, value]) => `<p id="${id}" class="${value}"></p>`)
    .join('')}`;
};

const isSolved = (cookie: string): boolean => {
  const answer = Buffer.from(cookie, 'base64').toString();
  return answer.startsWith('{') && JSON.parse(answer).d === Buffer.from(SOLUTION).toString('base64');
};

const data = (id: string, { statusCode = 0, ...post }: Post): string => {
  const detail = statusCode ? { statusCode } : { statusCode, itemInfo: { itemStruct: item(id, post) } };
  const scope = { 'webapp.app-context': { language: 'en' }, 'webapp.video-detail': detail };
  const body = JSON.stringify({ __DEFAULT_SCOPE__: scope });
  return `<script id="__UNIVERSAL_DATA_FOR_REHYDRATION__" type="application/json">${body}</script>`;
};

const item = (id: string, { isSlideshow, hasBrokenDownload, isClassified = false }: Post): object => ({
  id,
  desc: 'A post',
  createTime: '1767312000',
  isContentClassified: isClassified,
  author: { id: '1', uniqueId: 'someone', nickname: 'Someone', secUid: 'MS4w' },
  music: { title: 'A sound', authorName: 'Someone', duration: 6, playUrl: `${MEDIA}/tone.mp3?mime_type=audio_mpeg` },
  ...(!isClassified && { video: { ...(isSlideshow ? { duration: 0 } : VIDEO), ...(hasBrokenDownload && BROKEN) } }),
});

const source = (gear: string, file: string) => ({
  PlayAddr: {
    UrlKey: `v15044gf0000_${gear}`,
    // The last one is an API that media is never taken from.
    UrlList: [`${MEDIA}/${file}?gear=${gear}`, `https://www.tiktok.com/aweme/v1/play/?file=${file}`],
  },
});

const VIDEO = {
  id: 'v15044gf0000',
  duration: 8,
  width: 1280,
  height: 720,
  cover: 'https://p16-sign.tiktok.com/wide.jpg',
  bitrateInfo: [
    source('h264_720p_900000', 'ladder/both-720.mp4'),
    source('h264_360p_400000', 'ladder/both-360.mp4'),
    // A codec that only the site's own player has.
    source('bytevc2_1080p_700000', 'clip-tail.mp4'),
  ],
  playAddr: `${MEDIA}/ladder/both-720.mp4?gear=h264_720p_900000`,
  downloadAddr: `${MEDIA}/clip.mp4?watermark=1`,
};
const BROKEN = { downloadAddr: `${MEDIA}/gone.mp4` };
