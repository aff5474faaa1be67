import { expect, it } from 'vitest';
import type { MediaDetails } from '../../clients/reelay-client/src/api-types.ts';
import { MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import type { RequestOptions } from '../support/request.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

const getPath = async (path: string) => (await target.get(path)).headers.location ?? '';
const keyOf = async (link: string) => (await renditionOf(target, link)).key;
const masterOf = async (link: string) => `/api/Stream/Hls/${await keyOf(link)}/master.m3u8`;
const firstPlaylist = async (link: string) => {
  const master = await masterOf(link);
  const [uri = ''] = (await target.get(master)).body.toString().match(/^[^#\s].*$/m) ?? [];
  return master.replace('master.m3u8', uri);
};
const firstSubtitle = async (link: string) => {
  const { subtitles } = await target.json<MediaDetails>(target.pathOf('Fetch/GetDetails', link));
  return subtitles[0]?.key;
};

const endedJob = async () => {
  await target.get(await getPath(`${target.pathOf('Stream/Archive', '/feeds/podcast.xml')}&jobId=operations`));
  return '/api/Stream/Archive/Progress/operations';
};

/** A request of each operation that succeeds, and the type of its response: what every way to deploy the service answers. */
const REQUESTS: readonly (readonly [operationId: string, path: () => string | Promise<string>, type: RegExp])[] = [
  ['GetAppInfo', () => '/api/App', /^application\/json/],
  ['GetRequestCount', () => '/api/App/requests', /^application\/json/],
  ['GetResource', () => target.pathOf('Fetch/GetResource', '/site/open/operations'), /^application\/json/],
  ['GetDetails', () => target.pathOf('Fetch/GetDetails', '/site/detailed/operations'), /^application\/json/],
  ['GetPlayback', () => target.pathOf('Fetch/GetPlayback', '/site/combined/operations'), /^application\/json/],
  ['Get', () => getPath(target.pathOf('Get', '/site/combined/operations')), /^video\/mp4/],
  ['Feed', () => target.pathOf('Feed', '/feeds/podcast.xml'), /^application\/rss\+xml/],
  ['Mcp', () => '/mcp', /^text\/event-stream/],
  ['Media', async () => (await renditionOf(target, '/files/clip.mp4')).path, /^video\/mp4/],
  ['Media', async () => (await conversionOf(target, '/files/clip.mp4')).path, /^audio\/mpeg/],
  ['HlsMaster', () => masterOf('/files/clip.mp4'), /mpegurl$/],
  ['HlsFile', () => firstPlaylist('/files/clip.mp4'), /mpegurl$/],
  [
    'HlsFile',
    async () => (await masterOf('/dash/number/manifest.mpd')).replace('master.m3u8', 'all.mpd'),
    /dash\+xml$/,
  ],
  ['Subtitle', async () => `/api/Stream/Subtitle/${await firstSubtitle('/site/detailed/operations')}`, /^text\/vtt/],
  ['Cover', async () => `/api/Stream/Cover/${await keyOf('/site/detailed/operations')}`, /^image\/jpeg/],
  ['SkipSegments', async () => `/api/Stream/SkipSegments/${await keyOf('/files/clip.mp4')}`, /^application\/json/],
  ['SkipSegments', async () => `/api/Stream/Segments/${await keyOf('/files/clip.mp4')}`, /^application\/json/],
  [
    'Archive',
    () => getPath(`${target.pathOf('Get', '/feeds/podcast.xml')}&quality=audio&format=zip`),
    /^application\/zip/,
  ],
  ['ArchiveList', () => getPath(target.pathOf('Stream/Archive', '/feeds/podcast.xml')), /^application\/zip/],
  ['ArchiveProgress', endedJob, /^text\/event-stream/],
  ['Combined', async () => (await renditionOf(target, '/hls/ts/index.m3u8')).path, /^video\/mp4/],
];

/** Those that are no plain GET. */
const OPTIONS: Readonly<Record<string, RequestOptions>> = {
  Mcp: { method: 'POST', headers: MESSAGE_HEADERS, body: messageOf('tools/list') },
};

it('covers every operation of the document', () => {
  const operations = Object.values(target.api.json.paths).flatMap((methods) => Object.values(methods));
  const ids = new Set(REQUESTS.map(([operationId]) => operationId));
  expect([...ids].sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
});

it.each(REQUESTS)('%s answers', async (operationId, path, type) => {
  const { status, headers, body } = await target.get(await path(), OPTIONS[operationId]);
  expect([status, headers['content-type']]).toEqual([200, expect.stringMatching(type)]);
  expect(body.length).toBeGreaterThan(0);
});
