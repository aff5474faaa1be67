import { beforeAll, describe, expect, it } from 'vitest';
import { openOwnService } from '../contract/target.ts';
import { expectShortTurns } from '../support/event-loop-turns.ts';
import { sendRequest, statusOrBroken } from '../support/request.ts';
import { LARGE_CAPTIONS, LARGE_PLAYLISTS, largeItems } from './large-inputs.ts';

const CAPTION_NAMES = Object.keys(LARGE_CAPTIONS);
/** The file with the most cues at one time. */
const MOST_CUES = 'vtt cues at once';
/** Made before they are requested: only the turns of the service count. */
const bodies = new Map<string, Buffer>();

const { origin, service } = await openOwnService({
  mounts: {
    '/large/': ({ path, response }) => void response.writeHead(bodies.has(path) ? 200 : 404).end(bodies.get(path)),
    '/site-api/': ({ path, response }) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(bodies.get(path)),
  },
});

const nameOf = (kind: string, name: string) => `${kind}-${name.replaceAll(' ', '-')}`;
const large = (kind: string, name: string) => origin.url(`/large/${nameOf(kind, name)}`);

/** Items that have the large files. */
function itemsWithFiles(): Readonly<Record<string, object>> {
  const playlists = (more: object) =>
    Object.keys(LARGE_PLAYLISTS).map((name, index) => ({
      format_id: name,
      url: large('playlist', name),
      protocol: 'm3u8_native',
      ext: 'mp4',
      height: 100 + index,
      ...more,
    }));
  const file = { ext: 'mp4', protocol: 'https', url: origin.url('/files/clip.mp4') };
  const captions = CAPTION_NAMES.map((name, index) => [
    `l${index}`,
    [{ ext: 'vtt', url: large('caption', name), name }],
  ]);
  return {
    'described-playlists': { id: 'a', formats: playlists({ vcodec: 'avc1', acodec: 'mp4a.40.2', duration: 10 }) },
    'undescribed-playlists': { id: 'b', formats: playlists({}) },
    captions: { id: 'c', formats: [{ format_id: 'f', ...file }], subtitles: Object.fromEntries(captions) },
  };
}

beforeAll(() => {
  for (const [kind, texts] of [['playlist', LARGE_PLAYLISTS] as const, ['caption', LARGE_CAPTIONS] as const])
    for (const [name, make] of Object.entries(texts)) bodies.set(nameOf(kind, name), Buffer.from(make()));
  const items = Object.entries(largeItems(origin.baseUrl)).map(([name, make]) => [name, make()] as const);
  for (const [name, info] of [...items, ...Object.entries(itemsWithFiles())])
    bodies.set(nameOf('item', name), Buffer.from(JSON.stringify({ info })));
});

const get = (path: string) => sendRequest(service.baseUrl + path);
const query = (name: string, attempt = 1) =>
  `url=${encodeURIComponent(origin.url(`/site/${nameOf('item', name)}?attempt=${attempt}`))}`;
/** The status of a response, or that it was broken off. */
const statusOf = (path: string) => statusOrBroken(get(path));
const renditionsOf = async (name: string, attempt?: number): Promise<string[]> => {
  const { status, body } = await get(`/api/Fetch/GetResource?${query(name, attempt)}`);
  expect(status, body.toString('utf8', 0, 300)).toBe(200);
  return JSON.parse(body.toString()).mediaItems[0].video.renditions.map(({ key }: { key: string }) => key);
};

describe('no turn of the event loop is long', () => {
  it.each(Object.keys(largeItems('')))('for an answer of yt-dlp with %s', (name) =>
    expectShortTurns(async (attempt) => {
      const link = query(name, attempt);
      expect([200, 404, 415, 502]).toContain(await statusOf(`/api/Fetch/GetResource?${link}`));
      expect([200, 404, 415, 502]).toContain(await statusOf(`/api/Fetch/GetDetails?${link}`));
      // A refused item is resolved for each request.
      const [path, accepted] = name.includes('list of') || name.includes('long list') ? ['Feed', 200] : ['Get', 302];
      expect([accepted, 404, 415, 502]).toContain(await statusOf(`/api/${path}?quality=360p&${link}`));
    }),
  );

  it('for HLS playlists that are probed', () =>
    expectShortTurns(async (attempt) => {
      expect((await renditionsOf('undescribed-playlists', attempt)).length).toBeGreaterThan(0);
    }));

  it('for HLS playlists that are streamed', async () => {
    const keys = await renditionsOf('described-playlists');
    expect(keys).toHaveLength(Object.keys(LARGE_PLAYLISTS).length);
    for (const key of keys)
      await expectShortTurns(async () =>
        expect([404, 415, 502, 'broken']).toContain(await statusOf(`/api/Stream/Media/${key}`)),
      );
  });

  it('for subtitles', async () => {
    const { body } = await get(`/api/Fetch/GetDetails?${query('captions')}`);
    const { subtitles } = JSON.parse(body.toString());
    expect(subtitles).toHaveLength(CAPTION_NAMES.length);
    for (const { key, name } of subtitles)
      for (const format of name === MOST_CUES ? ['vtt', 'srt', 'txt'] : ['vtt'])
        await expectShortTurns(async () =>
          expect([200, 502]).toContain(await statusOf(`/api/Stream/Subtitle/${key}?format=${format}`)),
        );
  });

  it('for subtitles that are embedded', async () => {
    const [key] = await renditionsOf('captions');
    await expectShortTurns(async () => {
      expect(await statusOf(`/api/Stream/Media/${key}?subtitles=l${CAPTION_NAMES.indexOf(MOST_CUES)}`)).toBe(200);
    });
  });
});
