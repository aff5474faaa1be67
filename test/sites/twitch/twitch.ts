import { ensureMedia, madeFiles } from '../../origin/media.ts';
import { json, send, sendFile } from '../../origin/respond.ts';
import type { Site, SiteExchange } from '../site.ts';

const OTHER_PICTURE = ['-f', 'lavfi', '-i', 'smptebars=s=320x180:r=30:d=2'];
const OTHER_SOUND = ['-f', 'lavfi', '-i', 'sine=880:r=48000:d=2'];
/** Of recordings and of the advertisement in them; names are relative to the media folder. */
const SEGMENTS = {
  'ad.ts': [...OTHER_PICTURE, ...OTHER_SOUND, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-ac', '2'],
  'audio.ts': ['-i', 'clip.mp4', '-vn', '-c', 'copy'],
};
const SIGNATURE = '0123456789abcdef';
const CHANNEL_LIVE = 'onair';
const CHANNELS: readonly string[] = [CHANNEL_LIVE, 'offair'];
/** Errors of playlists, by the id of the recording. */
const RESTRICTED: Readonly<Record<string, object>> = {
  200: { error: 'Manifest is restricted', error_code: 'vod_manifest_restricted' },
  300: { error: 'Content is geoblocked', error_code: 'content_geoblocked' },
};
const RECORDINGS: readonly string[] = ['100', ...Object.keys(RESTRICTED)];
const CLIP = 'PlainClip';
const CLIP_FILES: Readonly<Record<string, string>> = { '360.mp4': 'ladder/both-360.mp4', '180.mp4': 'clip.mp4' };

interface Operation {
  readonly operationName?: string;
  readonly query?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Twitch, as far as yt-dlp asks it: GraphQL, playlists of recordings and live streams with an advertisement, and clips. */
export async function createTwitch(): Promise<Site> {
  const mediaDir = await madeFiles(SEGMENTS, await ensureMedia());

  const playlist = (exchange: SiteExchange): void => {
    const [, kind = '', id = ''] = /\/(vod|hls)\/(\w+)\.m3u8$/.exec(exchange.path) ?? [];
    const { sig, token } = Object.fromEntries(exchange.url.searchParams);
    const isKnown = sig === SIGNATURE && token === `token-${id}`;
    const error = isKnown ? RESTRICTED[id] : { error: 'Unauthorized', error_code: 'invalid_token' };
    if (error) json(exchange, [{ ...error, type: 'error' }], 403);
    else send(exchange, 'application/vnd.apple.mpegurl', masterPlaylist(kind));
  };

  const media = async (exchange: SiteExchange): Promise<void> => {
    const { sig, token } = Object.fromEntries(exchange.url.searchParams);
    const name = exchange.path.split('/').at(-1) ?? '';
    if (name.endsWith('.m3u8'))
      send(exchange, 'application/vnd.apple.mpegurl', exchange.path.includes('/audio_only/') ? AUDIO_LIST : VIDEO_LIST);
    else if (name.endsWith('.mp4') && (sig !== SIGNATURE || token !== `token-${CLIP}`))
      send(exchange, 'text/plain', '', 403);
    else if (name.endsWith('.mp4')) await sendFile(exchange, CLIP_FILES[name] ?? name);
    else if (name in SEGMENTS) await sendFile({ ...exchange, mediaDir }, name);
    else await sendFile(exchange, `hls/ts/${name}`);
  };

  return {
    hosts: ['gql.twitch.tv', 'usher.ttvnw.net', '*.cloudfront.net', 'production.assets.clips.twitchcdn.net'],
    handle: async (exchange) => {
      if (exchange.host === 'gql.twitch.tv') graphql(exchange);
      else if (exchange.host === 'usher.ttvnw.net') playlist(exchange);
      else await media(exchange);
    },
  };
}

function graphql(exchange: SiteExchange): void {
  const asked: Operation | readonly Operation[] = JSON.parse(exchange.body);
  const isList = Array.isArray(asked);
  const answers = [asked].flat().map((operation) => ({ data: answer(operation as Operation) }));
  json(exchange, isList ? answers : answers[0]);
}

function answer({ operationName = '', query = '', variables = {} }: Operation): object {
  const [, method = '', id = ''] = /(\w+PlaybackAccessToken)\([^"]*"(\w+)"/.exec(query) ?? [];
  if (method) return { [method]: { value: `token-${id}`, signature: SIGNATURE } };
  const { videoID = '', channelLogin = '', slug = '' } = variables;
  const login = variables.login ?? variables.channel ?? channelLogin;
  switch (operationName) {
    case 'VideoMetadata':
      return { video: RECORDINGS.includes(videoID) ? recording(videoID) : null };
    case 'StreamMetadata':
      return { user: CHANNELS.includes(login) ? { stream: login === CHANNEL_LIVE ? LIVE : null } : null };
    case 'ComscoreStreamingQuery':
      return { user: { displayName: 'On Air', broadcastSettings: { title: 'Games' } } };
    case 'ShareClipRenderStatus':
      return { clip: slug === CLIP ? clip() : null };
    default:
      return { video: null, user: null };
  }
}

const LIVE = { id: '4000', createdAt: '2026-11-01T10:00:00Z', type: 'live' };

const recording = (id: string): object => ({
  id,
  title: 'Recording',
  lengthSeconds: 8,
  publishedAt: '2026-11-01T10:00:00Z',
  owner: { displayName: 'On Air', login: CHANNEL_LIVE },
});

const clip = (): object => {
  const sourceURL = (name: string) => `https://production.assets.clips.twitchcdn.net/v2/media/${name}`;
  return {
    id: '5000',
    title: 'Clip',
    durationSeconds: 6,
    broadcaster: { displayName: 'On Air' },
    playbackAccessToken: { signature: SIGNATURE, value: `token-${CLIP}` },
    assets: [
      {
        aspectRatio: 1.78,
        videoQualities: [
          { quality: '360', frameRate: 25, sourceURL: sourceURL('360.mp4') },
          { quality: '180', frameRate: 25, sourceURL: sourceURL('180.mp4') },
        ],
      },
    ],
  };
};

const masterPlaylist = (kind: string): string => {
  const variant = (
    name: string,
    group: string,
    rest: string,
  ) => `#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="${group}",NAME="${name}",AUTOSELECT=YES,DEFAULT=YES
#EXT-X-STREAM-INF:BANDWIDTH=800000,${rest},VIDEO="${group}"
https://d1.cloudfront.net/${kind}/${group}/index-dvr.m3u8
`;
  return `#EXTM3U
${variant('180p (source)', 'chunked', 'RESOLUTION=320x180,CODECS="avc1.42C00C,mp4a.40.2",FRAME-RATE=25.000')}${variant('Audio Only', 'audio_only', 'CODECS="mp4a.40.2"')}`;
};

const HEAD = '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:0\n';
const AUDIO_LIST = `${HEAD}#EXTINF:6.000,\naudio.ts\n#EXT-X-ENDLIST\n`;
/** With an advertisement after the first two seconds. */
const VIDEO_LIST = `${HEAD}#EXTINF:2.000,live
0.ts
#EXT-X-DISCONTINUITY
#EXT-X-DATERANGE:ID="stitched-ad-1",CLASS="twitch-stitched-ad",START-DATE="2026-11-01T10:00:02Z",DURATION=2.000
#EXTINF:2.000,Amazon|1
ad.ts
#EXT-X-DISCONTINUITY
#EXTINF:2.000,live
1.ts
#EXTINF:2.000,live
2.ts
#EXT-X-ENDLIST
`;
