import { describe, expect, it } from 'vitest';
import type { RequestOptions } from '../support/request.ts';
import { expectHeadOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();
const get = (path: string, more = '', options: RequestOptions = {}) =>
  target.get(target.pathOf('Get', path) + more, options);
/** Where a request is redirected to. */
const locationOf = async (path: string, more = '') => {
  const { status, headers } = await get(path, more);
  expect(status).toBe(302);
  return headers.location ?? '';
};

describe('GET /api/Get', () => {
  it('redirects to the key of GetResource, which streams', async () => {
    const { resource } = await target.resolve('/site/combined/one-shot');
    const location = await locationOf('/site/combined/one-shot');
    expect(location).toBe(`/api/Stream/Media/${resource.mediaItems[0]?.video?.bestQualityKey}`);
    expect((await target.get(location)).status).toBe(200);
  });

  it('streams the conversion as MP3', async () => {
    const clip = await target.get(await locationOf('/site/combined/one-shot', '&quality=mp3&start=0&end=1'));
    expect([clip.status, clip.headers['content-type']]).toEqual([200, 'audio/mpeg']);
  });

  it.each(['best', 'audio', 'mp3'])('sends at most maxBytes of %s, or names the smallest', async (quality) => {
    const refused = await get('/site/combined/one-shot', `&quality=${quality}&maxBytes=1`);
    const detail = String((JSON.parse(refused.body.toString()) as { detail?: string }).detail);
    const [, smallest = ''] = / with (\d+) bytes\.$/.exec(detail) ?? [];
    expect([refused.status, detail]).toEqual([404, expect.stringContaining('The smallest is ')]);
    const location = await locationOf('/site/combined/one-shot', `&quality=${quality}&maxBytes=${smallest}`);
    const length = Number((await target.get(location, { method: 'HEAD' })).headers['content-length']);
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThanOrEqual(Number(smallest));
  });

  it('redirects to an archive of a list, whose entries are those of the list', async () => {
    const location = await locationOf('/feeds/podcast.xml', '&quality=audio&format=zip');
    expect(location).toMatch(/^\/api\/Stream\/Archive\/[\w-]{33}\?quality=audio&format=zip$/);
    const { status, headers, body } = await expectHeadOf(target, location);
    expect([status, headers['content-type'], headers['content-length'], headers['accept-ranges']]).toEqual([
      ...[200, 'application/zip', String(body.length), 'bytes'],
    ]);
    for (const name of ['01 - Episode 1.mp3', '02 - Episode 2.m4a', '03 - Episode 3.ogg', 'index.txt'])
      expect(body.includes(`A podcast/${name}`)).toBe(true);
    // It continues at a byte, after a renewal of expired links.
    target.origin.expireUrls();
    const first = Math.floor(body.length / 2);
    const rest = await target.get(location, { headers: { range: `bytes=${first}-` } });
    expect([rest.status, rest.body.equals(body.subarray(first))]).toEqual([206, true]);
  });

  it('redirects to an archive whose tags name the list and the place in it', async () => {
    const { body } = await target.get(await locationOf('/site/list/album?n=2', '&quality=mp3&format=zip&tags=true'));
    const text = (frame: string, value: string) =>
      body.includes(
        Buffer.concat([
          Buffer.from(frame),
          Buffer.from([0, 0, 0, 3 + value.length * 2, 0, 0, 1, 0xff, 0xfe]),
          Buffer.from(value, 'utf16le'),
        ]),
      );
    expect([text('TALB', 'List album'), text('TRCK', '1'), text('TRCK', '2')]).toEqual([true, true, true]);
  });

  it('redirects to an archive of the chapters of an item, and to one of them', async () => {
    const location = await locationOf('/site/detailed/split', '&quality=mp3&format=zip&split=chapters');
    expect(location).toMatch(/^\/api\/Stream\/Archive\/[\w-]{33}\?quality=mp3&tags=true&format=zip$/);
    const { headers, body } = await target.get(location);
    expect(headers['content-length']).toBe(String(body.length));
    for (const name of ['01 - Ärtist Example - Intro.mp3', '02 - Ärtist Example - End.mp3'])
      expect(body.includes(name)).toBe(true);
    const one = await locationOf('/site/detailed/split', '&quality=mp3&chapter=2');
    expect(one).toMatch(/\?format=mp3&chapter=2$/);
    const chapter = await target.get(one, { method: 'HEAD' });
    expect([chapter.status, chapter.headers['content-disposition']]).toEqual([200, expect.stringContaining('End.mp3')]);
  });

  it.each([
    ['/site/combined/split', '&format=zip&split=chapters', 415],
    ['/site/list/album?n=2', '&format=zip&split=chapters', 415],
    ['/site/detailed/split', '&split=chapters', 400],
    ['/site/detailed/split', '&format=zip&split=parts', 400],
    ['/site/detailed/split', '&format=zip&chapter=1', 400],
    ['/site/detailed/split', '&chapter=1&end=1', 400],
    ['/site/combined/one-shot', '&quality=none', 400],
    ['/site/drm/one-shot', '', 415],
  ])('refuses %s with %s as %i', async (path, query, status) => {
    const response = await get(path, query);
    const type = status === 400 ? 'bad-parameter' : path.includes('drm') ? 'drm' : 'unsupported';
    expect([response.status, JSON.parse(response.body.toString()).type]).toEqual([status, `/problems/${type}`]);
  });

  it('answers HEAD with the headers of GET, whatever its range', async () => {
    expect((await expectHeadOf(target, target.pathOf('Get', '/site/combined/head'))).status).toBe(302);
    expect((await get('/site/drm/head', '', { method: 'HEAD' })).status).toBe(415);
  });
});

const feed = (path: string, more = '') => target.get(target.pathOf('Feed', path) + more);

describe('GET /api/Feed', () => {
  it.each([
    ['entries named by their own pages', '/site/list/feed?n=2'],
    ['entries named by the list', '/feeds/podcast.xml'],
  ])('is a podcast whose enclosures stream as MP3, with their lengths or none: %s', async (_, path) => {
    const { status, headers, body } = await feed(path);
    expect([status, headers['content-type']]).toEqual([200, 'application/rss+xml; charset=utf-8']);
    const enclosures = [...body.toString().matchAll(/<enclosure url="http:\/\/[^/]+([^"]+)" .*? length="(\d+)"/g)];
    expect(enclosures.length).toBeGreaterThan(1);
    for (const [, link = '', length] of enclosures) {
      const redirect = await target.get(link.replaceAll('&amp;', '&'));
      expect(redirect.status).toBe(302);
      const episode = await target.get(redirect.headers.location ?? '', { method: 'HEAD' });
      expect([episode.status, episode.headers['content-type']]).toEqual([200, 'audio/mpeg']);
      expect(['0', episode.headers['content-length']]).toContain(length);
    }
  });

  it('is checked by HEAD before it is read, as podcast clients do, and unchanged for one that has it', async () => {
    const path = target.pathOf('Feed', '/feeds/podcast.xml');
    const { status, headers, body } = await expectHeadOf(target, path);
    expect([status, headers['content-length']]).toEqual([200, String(body.length)]);
    for (const method of ['GET', 'HEAD']) {
      const unchanged = await target.get(path, { method, headers: { 'if-none-match': headers.etag ?? '' } });
      expect([unchanged.status, unchanged.body.length]).toEqual([304, 0]);
      expect(unchanged.headers).not.toHaveProperty('content-length');
    }
  });

  it('answers failures as GetResource does', async () => {
    expect((await feed('/site/drm/feed')).status).toBe(415);
    expect((await feed('/feeds/dead.xml')).status).toBe(404);
    expect((await feed('/feeds/podcast.xml', '&format=atom')).status).toBe(400);
  });
});
