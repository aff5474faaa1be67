import { json, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

/** What the site says of a video instead of its formats. */
interface Refusal {
  readonly code: string;
  readonly title: string;
}

/** By id. Those without a refusal are delivered. */
const VIDEOS: Readonly<Record<string, Refusal | undefined>> = {
  xplain1: undefined,
  xlater1: undefined,
  xguarded1: undefined,
  xblocked1: undefined,
  xprivate1: { code: 'DM010', title: 'This video is private' },
  xpassword1: { code: 'DM016', title: 'This video is password protected' },
  xregion1: { code: 'DM007', title: 'The owner has geo-restricted this video' },
  xdeleted1: { code: 'DM002', title: 'This video has been removed due to a breach of the Terms of Use' },
};

const TOKEN = 'token-of-the-api';
const VISITOR = 'v1st=visitor-1';
const MASTER = `#EXTM3U
#EXT-X-STREAM-INF:BANDWIDTH=460560,CODECS="avc1.42C00C,mp4a.40.2",RESOLUTION=320x180,NAME="180"
`;

export interface Dailymotion extends Site {
  /** Ends the lifetime of all URLs that it has signed. */
  expire(): void;
}

/** Dailymotion, as far as yt-dlp asks it: tokens of the API, metadata, and HLS by signed URLs for the visitor who got them. */
export function createDailymotion(): Dailymotion {
  let signature = 1;
  const sign = (path: string) => `https://vod.dmcdn.net/sec(${signature})${path}`;

  const graphql = (exchange: SiteExchange): void => {
    const isKnown = exchange.request.headers.authorization === `Bearer ${TOKEN}`;
    const [, xid = ''] = /media\(xid: "(\w+)"/.exec(JSON.parse(exchange.body).query) ?? [];
    const media = { xid, description: 'About it', geoblockedCountries: { allowed: ['fr'] }, stats: {} };
    const found = xid in VIDEOS ? { media } : { media: null };
    json(exchange, { data: found, errors: [{ message: 'Video not found' }] }, isKnown ? 200 : 401);
  };

  const metadata = (exchange: SiteExchange, xid: string): void => {
    const error = VIDEOS[xid];
    const url = `https://www.dailymotion.com/cdn/manifest/video/${xid}.m3u8?sec=${signature}`;
    const found = {
      title: 'Video',
      duration: 6,
      owner: { screenname: 'Owner', id: 'xowner' },
      posters: { 720: 'https://s1.dmcdn.net/v/1/x720' },
      qualities: { auto: [{ type: 'application/x-mpegURL', url }] },
    };
    exchange.response.setHeader('set-cookie', `${VISITOR}; Domain=.dailymotion.com; Path=/; Secure`);
    json(exchange, error ? { error } : found);
  };

  const isValid = (sent: string | null | undefined): boolean => sent === String(signature);

  const manifest = (exchange: SiteExchange, xid: string): void => {
    const { cookie = '', 'sec-ch-ua': browser } = exchange.request.headers;
    // yt-dlp sends this header only where it imitates a browser, handshake included.
    const isGuarded = xid === 'xblocked1' || (xid === 'xguarded1' && browser === undefined);
    const isRefused = isGuarded || !cookie.includes(VISITOR) || !isValid(exchange.url.searchParams.get('sec'));
    if (isRefused) send(exchange, 'text/plain', '', 403);
    else send(exchange, 'application/vnd.apple.mpegurl', `${MASTER}${sign('/video/180/index.m3u8')}#cell=cf\n`);
  };

  const media = async (exchange: SiteExchange): Promise<void> => {
    const [, sent, name = ''] = /^\/sec\((\d+)\)\/video\/180\/(.+)$/.exec(exchange.path) ?? [];
    if (!isValid(sent)) send(exchange, 'text/plain', '', 403);
    else await sendFile(exchange, `hls/ts/${name}`);
  };

  return {
    hosts: ['www.dailymotion.com', 'graphql.api.dailymotion.com', 'vod.dmcdn.net', 's1.dmcdn.net'],
    expire: () => {
      signature += 1;
    },
    handle: async (exchange) => {
      const { host, path } = exchange;
      const id = /(\w+)(?:\.m3u8)?$/.exec(path)?.[1] ?? '';
      if (host === 'vod.dmcdn.net') await media(exchange);
      else if (host === 's1.dmcdn.net') await sendFile(exchange, 'wide.jpg');
      else if (path === '/oauth/token') json(exchange, { access_token: TOKEN });
      else if (host === 'graphql.api.dailymotion.com') graphql(exchange);
      else if (path.startsWith('/player/metadata/video/')) metadata(exchange, id);
      else if (path.startsWith('/cdn/manifest/')) manifest(exchange, id);
      else send(exchange, 'text/plain', 'Not found', 404);
    },
  };
}
