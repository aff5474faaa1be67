import { describe, expect, it } from 'vitest';
import type { ReceivedResponse, RequestOptions } from '../support/request.ts';
import { useTarget } from './target.ts';

const target = useTarget();
const get = (path: string, more = '', options: RequestOptions = {}) =>
  target.get(`/api/Get?url=${encodeURIComponent(target.origin.url(path))}${more}`, options);
const withoutDate = ({ date: _, ...headers }: ReceivedResponse['headers']) => headers;

describe('GET /api/Get', () => {
  it('redirects to the same bytes as the key of GetResource', async () => {
    const { resource } = await target.resolve('/site/combined/one-shot');
    const { status, headers } = await get('/site/combined/one-shot');
    expect([status, headers.location]).toEqual([
      302,
      `/api/Stream/Media/${resource.mediaItems[0]?.video?.bestQualityKey}`,
    ]);
    const [whole, direct] = await Promise.all([
      target.get(headers.location ?? ''),
      target.get(`/api/Stream/Media/${resource.mediaItems[0]?.video?.bestQualityKey}`),
    ]);
    expect(whole.status).toBe(200);
    expect(whole.body.equals(direct.body)).toBe(true);
  });

  it('streams the conversion as MP3', async () => {
    const { headers } = await get('/site/combined/one-shot', '&quality=mp3&start=0&end=1');
    const clip = await target.get(headers.location ?? '');
    expect([clip.status, clip.headers['content-type']]).toEqual([200, 'audio/mpeg']);
  });

  it.each(['best', 'audio', 'mp3'])('sends at most maxBytes of %s, or names the smallest', async (quality) => {
    const refused = await get('/site/combined/one-shot', `&quality=${quality}&maxBytes=1`);
    const detail = String((JSON.parse(refused.body.toString()) as { detail?: string }).detail);
    const [, smallest = ''] = / with (\d+) bytes\.$/.exec(detail) ?? [];
    expect([refused.status, detail]).toEqual([404, expect.stringContaining('The smallest is ')]);
    const { status, headers } = await get('/site/combined/one-shot', `&quality=${quality}&maxBytes=${smallest}`);
    expect(status).toBe(302);
    const sent = await target.get(headers.location ?? '', { method: 'HEAD' });
    expect(Number(sent.headers['content-length'])).toBeGreaterThan(0);
    expect(Number(sent.headers['content-length'])).toBeLessThanOrEqual(Number(smallest));
  });

  it('redirects to an archive of a list, whose entries are those of the list', async () => {
    const { status, headers } = await get('/feeds/podcast.xml', '&quality=audio&format=zip');
    expect([status, headers.location]).toEqual([
      302,
      expect.stringMatching(/^\/api\/Stream\/Archive\/[\w-]{33}\?quality=audio&format=zip$/),
    ]);
    const [head, archive] = await Promise.all([
      target.get(headers.location ?? '', { method: 'HEAD' }),
      target.get(headers.location ?? ''),
    ]);
    expect([archive.status, archive.headers['content-type']]).toEqual([200, 'application/zip']);
    expect(archive.headers['content-length']).toBe(String(archive.body.length));
    expect(head.headers['content-length']).toBe(archive.headers['content-length']);
    for (const name of ['01 - Episode 1.mp3', '02 - Episode 2.m4a', '03 - Episode 3.ogg', 'index.txt'])
      expect(archive.body.includes(`A podcast/${name}`)).toBe(true);
  });

  it('redirects to an archive whose tags name the list and the place in it', async () => {
    const { headers } = await get('/site/list/album?n=2', '&quality=mp3&format=zip&tags=true');
    const { status, body } = await target.get(headers.location ?? '');
    expect(status).toBe(200);
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
    const { status, headers } = await get('/site/detailed/split', '&quality=mp3&format=zip&split=chapters');
    expect([status, headers.location]).toEqual([
      302,
      expect.stringMatching(/^\/api\/Stream\/Archive\/[\w-]{33}\?quality=mp3&tags=true&format=zip$/),
    ]);
    const archive = await target.get(headers.location ?? '');
    expect([archive.status, archive.headers['content-length']]).toEqual([200, String(archive.body.length)]);
    for (const name of ['01 - Ärtist Example - Intro.mp3', '02 - Ärtist Example - End.mp3'])
      expect(archive.body.includes(name)).toBe(true);
    const one = await get('/site/detailed/split', '&quality=mp3&chapter=2');
    expect(one.headers.location).toMatch(/\?format=mp3&chapter=2$/);
    const chapter = await target.get(one.headers.location ?? '', { method: 'HEAD' });
    expect([chapter.status, chapter.headers['content-disposition']]).toEqual([200, expect.stringContaining('End.mp3')]);
  });

  it.each([
    ['/site/combined/split', '&format=zip&split=chapters', 415],
    ['/site/list/album?n=2', '&format=zip&split=chapters', 415],
    ['/site/detailed/split', '&split=chapters', 400],
    ['/site/detailed/split', '&format=zip&split=parts', 400],
    ['/site/detailed/split', '&format=zip&chapter=1', 400],
    ['/site/detailed/split', '&chapter=1&end=1', 400],
  ])('refuses %s with %s as %i', async (path, query, status) => {
    const response = await get(path, query);
    expect([response.status, JSON.parse(response.body.toString()).type]).toEqual([
      status,
      status === 415 ? '/problems/unsupported' : '/problems/bad-parameter',
    ]);
  });

  it('redirects to an archive that continues at a byte, after a renewal of expired links', async () => {
    const { headers } = await get('/feeds/podcast.xml', '&quality=audio&format=zip');
    const whole = await target.get(headers.location ?? '');
    expect(whole.headers['accept-ranges']).toBe('bytes');
    target.origin.expireUrls();
    const first = Math.floor(whole.body.length / 2);
    const rest = await target.get(headers.location ?? '', { headers: { range: `bytes=${first}-` } });
    expect(rest.status).toBe(206);
    expect(rest.body.equals(whole.body.subarray(first))).toBe(true);
  });

  it('answers HEAD with the headers of GET, whatever its range', async () => {
    const [head, whole] = await Promise.all([
      get('/site/combined/head', '', { method: 'HEAD', headers: { range: 'bytes=0-9' } }),
      get('/site/combined/head'),
    ]);
    expect([head.status, head.body.length]).toEqual([302, 0]);
    expect(withoutDate(head.headers)).toEqual(withoutDate(whole.headers));
    expect((await get('/site/drm/head', '', { method: 'HEAD' })).status).toBe(415);
  });

  it('answers failures as GetResource does', async () => {
    expect((await get('/site/drm/one-shot')).status).toBe(415);
    expect((await get('/site/combined/one-shot', '&quality=none')).status).toBe(400);
  });
});

const feed = (path: string, more = '', headers = {}) =>
  target.get(`/api/Feed?url=${encodeURIComponent(target.origin.url(path))}${more}`, { headers });

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

  it('is unchanged for a client that has it', async () => {
    const { headers } = await feed('/feeds/podcast.xml', '&format=m3u8');
    const again = await feed('/feeds/podcast.xml', '&format=m3u8', { 'if-none-match': headers.etag });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it('is checked by HEAD before it is read, as podcast clients do', async () => {
    const path = `/api/Feed?url=${encodeURIComponent(target.origin.url('/feeds/podcast.xml'))}`;
    const head = await target.get(path, { method: 'HEAD', headers: { range: 'bytes=0-9' } });
    const whole = await target.get(path);
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(withoutDate(head.headers)).toEqual(withoutDate(whole.headers));
    expect(head.headers['content-length']).toBe(String(whole.body.length));
    const known = { method: 'HEAD', headers: { 'if-none-match': head.headers.etag ?? '' } };
    const unchanged = await target.get(path, known);
    expect([unchanged.status, unchanged.headers['content-length']]).toEqual([304, undefined]);
  });

  it('answers failures as GetResource does', async () => {
    expect((await feed('/site/drm/feed')).status).toBe(415);
    expect((await feed('/feeds/dead.xml')).status).toBe(404);
    expect((await feed('/feeds/podcast.xml', '&format=atom')).status).toBe(400);
  });
});
