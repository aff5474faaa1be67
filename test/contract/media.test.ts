import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'content-disposition';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MediaDetails } from '../../clients/reelay-client/src/api-types.ts';
import { expectFailure } from './api-document.ts';
import { conversionOf, expectHeadOf, renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

/** The expected bytes and the stream path of each kind. */
const streams: Record<string, { path: string; bytes: Buffer }> = {};
const direct = () => streams.direct ?? expect.fail('Not resolved');

beforeAll(async () => {
  for (const [name, link, file] of [
    ['direct', '/files/clip.mp4', 'clip.mp4'],
    ['strict', '/site/long-strict/ranges', 'long-audio.m4a'],
    ['rangeless', '/slow/tone.flac?rate=20000000', 'tone.flac'],
  ] as const) {
    const side = name === 'direct' ? 'video' : 'audio';
    const { path } = await renditionOf(target, link, side);
    streams[name] = { path, bytes: await readFile(join(target.origin.mediaDir, file)) };
  }
  const { path } = await sizedConversionOf(target, '/files/clip.mp4');
  streams.mp3 = { path, bytes: (await target.get(path)).body };
});

const KINDS = ['direct', 'strict', 'rangeless', 'mp3'];

describe.each(KINDS)('%s rendition, whole', (kind) => {
  it('is answered with 200, every byte, Content-Length and ETag', async () => {
    const { path, bytes } = streams[kind] ?? expect.fail('Not resolved');
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(200);
    expect(body.equals(bytes)).toBe(true);
    expect(headers).toMatchObject({
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[^"]+"$/),
      'cache-control': 'public, max-age=3600, must-revalidate, stale-if-error=0',
      'x-content-type-options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('content-encoding');
  });

  it('has the same headers with HEAD, which ignores Range', async () => {
    await expectHeadOf(target, streams[kind]?.path ?? expect.fail('Not resolved'));
  });
});

/** [Range header, first and last byte of `size` bytes]. */
const SATISFIABLE: [range: string, slice: (size: number) => [number, number]][] = [
  ['bytes=LAST-LAST', (size) => [size - 1, size - 1]],
  ['bytes=0-0', () => [0, 0]],
  ['bytes=0-99', () => [0, 99]],
  ['bytes=100-199', () => [100, 199]],
  ['bytes=000-0009', () => [0, 9]],
  ['bytes=0-', (size) => [0, size - 1]],
  ['bytes=5000-', (size) => [5000, size - 1]],
  ['bytes=-1', (size) => [size - 1, size - 1]],
  ['bytes=-500', (size) => [size - 500, size - 1]],
  ['bytes=-999999999', (size) => [0, size - 1]],
  ['bytes=10-999999999', (size) => [10, size - 1]],
  ['bytes=10-99999999999999999999', (size) => [10, size - 1]],
  ['BYTES=0-4', () => [0, 4]],
];

describe.each(KINDS)('%s rendition, range', (kind) => {
  it.each(SATISFIABLE)('%s is answered with 206', async (range, slice) => {
    const { path, bytes } = streams[kind] ?? expect.fail('Not resolved');
    const [first, last] = slice(bytes.length);
    const asked = { range: range.replaceAll('LAST', String(bytes.length - 1)) };
    const { status, headers, body } = await target.get(path, { headers: asked });
    expect(status).toBe(206);
    expect(headers['content-range']).toBe(`bytes ${first}-${last}/${bytes.length}`);
    expect(headers['content-length']).toBe(String(last - first + 1));
    expect(body.equals(bytes.subarray(first, last + 1))).toBe(true);
  });

  it.each([
    (size: number) => `bytes=${size}-`,
    (size: number) => `bytes=${size}-${size + 5}`,
    () => 'bytes=-0',
    () => 'bytes=99999999999999999999-',
  ])('beyond the end is answered with 416 (%#)', async (range) => {
    const { path, bytes } = streams[kind] ?? expect.fail('Not resolved');
    const answer = await target.get(path, { headers: { range: range(bytes.length) } });
    expectFailure(answer, 416);
    const { headers } = answer;
    expect(headers['content-range']).toBe(`bytes */${bytes.length}`);
    expect(headers).not.toHaveProperty('content-disposition');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });
});

describe('Range header without a single byte range', () => {
  it.each([
    ...[
      '',
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=5-2',
      'bytes=a-b',
      'bytes=1-b',
      'bytes=--5',
      'bytes=+1-5',
      'bytes=1.5-3',
    ],
    ...['bytes=0x1-5', 'bytes 0-5', 'bytes:0-5', '0-5', 'items=0-5', 'none=0-1', 'bytes=0-1,5-6', 'bytes=0-1, -1'],
    ...['bytes=0-5;q=1', 'bytes=0-5 6-7', 'bytes=0-0,1000000000-', 'bytes=٣-٤'],
  ])('is ignored: %j', async (range) => {
    const { path, bytes } = direct();
    // Header values are sent as latin1.
    const sent = Buffer.from(range).toString('latin1');
    const { status, headers, body } = await target.get(path, { headers: { range: sent } });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('content-range');
    expect(body.equals(bytes)).toBe(true);
  });
});

describe('conditional requests', () => {
  const etagOf = async (path = '') => (await target.get(path)).headers.etag ?? '';
  const etag = () => etagOf(direct().path);

  it('honour Range when If-Range is the ETag', async () => {
    const answer = await target.get(direct().path, { headers: { range: 'bytes=1-2', 'if-range': await etag() } });
    expect(answer.status).toBe(206);
  });

  it.each([
    ['another ETag', async () => '"another"'],
    ['a weak ETag', async () => `W/${await etag()}`],
    ['a date', async () => 'Wed, 21 Oct 2015 07:28:00 GMT'],
    ['nonsense', async () => 'nonsense'],
  ])('ignore Range when If-Range is %s', async (_, ifRange) => {
    for (const range of ['bytes=1-2', 'bytes=999999999-']) {
      const { status, body } = await target.get(direct().path, { headers: { range, 'if-range': await ifRange() } });
      expect(status).toBe(200);
      expect(body).toHaveLength(direct().bytes.length);
    }
  });

  it('are answered with 304 where If-None-Match has the current ETag', async () => {
    const known = await etag();
    const conditions = [known, `W/${known}`, `"other", ${known}`, '*'];
    for (const method of ['GET', 'HEAD'] as const)
      for (const condition of conditions) {
        const headers = { 'if-none-match': condition, range: 'bytes=1-2', 'if-range': known };
        const answer = await target.get(direct().path, { method, headers });
        expect([answer.status, answer.headers.etag, answer.body.length]).toEqual([304, known, 0]);
        expect(answer.headers).not.toHaveProperty('content-length');
        expect(answer.headers).not.toHaveProperty('content-type');
        expect(answer.headers['cache-control']).toMatch(/max-age=3600/);
      }
  });

  it('are answered with 304 by conversions and pairs too', async () => {
    const pair = await renditionOf(target, '/site/open/304', 'video');
    for (const path of [streams.mp3?.path ?? '', pair.path.replace('Combined', 'Media')]) {
      const known = await etagOf(path);
      expect(known).toMatch(/^"/);
      expect((await target.get(path, { headers: { 'if-none-match': known } })).status).toBe(304);
      expect((await target.get(path, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
    }
  });

  it('ignore other conditions: neither 304 nor 412', async () => {
    const conditions: Record<string, string>[] = [
      { 'if-none-match': '"another"' },
      { 'if-match': '"another"' },
      { 'if-modified-since': new Date().toUTCString() },
      { 'if-unmodified-since': 'Wed, 21 Oct 2015 07:28:00 GMT' },
      { 'if-range': '"another"' },
    ];
    for (const headers of conditions) expect((await target.get(direct().path, { headers })).status).toBe(200);
  });

  it('have a stable ETag, which differs for the conversion', async () => {
    expect(await etag()).toBe(await etag());
    expect(await etagOf(streams.mp3?.path)).not.toBe(await etag());
  });
});

describe('file name', () => {
  it.each([
    ['/site/combined/name', 'video', 'Ärtist Example - Größe “name”', '.mp4', 'video/mp4'],
    ['/site/music/name', 'audio', 'Ada Example', '.webm', 'audio/webm'],
    ['/files/tone.mp3?name', 'audio', 'tone', '.mp3', 'audio/mpeg'],
  ] as const)('of %s is Artist - Title, valid on any file system', async (link, side, start, extension, type) => {
    const { path } = await renditionOf(target, link, side);
    const { headers } = await target.get(path, { method: 'HEAD' });
    const header = headers['content-disposition'] ?? '';
    expect(headers['content-type']).toBe(type);
    expect(header).toMatch(/^attachment; filename=("[ -~]+"|[\w.-]+)(; filename\*=UTF-8''[\w%.~!#$&+^`|-]+)?$/);
    const filename = parse(header).parameters.filename ?? '';
    expect(filename.startsWith(start), filename).toBe(true);
    expect(filename.endsWith(extension), filename).toBe(true);
    expect(filename).not.toMatch(/[/\\:*?"<>|]/);
  });

  it('of a conversion ends with .mp3', async () => {
    const { headers } = await target.get((await conversionOf(target, '/site/combined/name')).path, { method: 'HEAD' });
    expect(parse(headers['content-disposition'] ?? '').parameters.filename).toMatch(/^Ärtist Example - .*\.mp3$/);
    expect(headers['content-type']).toBe('audio/mpeg');
  });
});

describe('media that its site serves from a moment on', () => {
  const detailsOf = (link: string) => target.json<MediaDetails>(target.pathOf('Fetch/GetDetails', link));
  const requestsOf = (link: string) => ({
    resolves: target.origin.requestsTo(link.replace('/site/', '/site-api/')).length,
    media: target.origin.requestsTo('/site-media/').filter(({ path }) => path.includes('from=')).length,
  });

  it.each([
    ['a file', '/site/combined/file?wait=3', '?'],
    ['a pair', '/site/open/pair?wait=3', '?'],
    ['an MP3', '/site/music/mp3?wait=3', '?format=mp3'],
  ])('is waited for as %s: one resolve, no request before', async (_, link, query) => {
    const before = requestsOf(link);
    const { path } = await renditionOf(target, link, query === '?' ? 'video' : 'audio');
    expect((await detailsOf(link)).availableInSeconds).toBeGreaterThanOrEqual(1);
    const head = await target.get(`${path}${query}`, { method: 'HEAD' });
    expect([head.status, requestsOf(link)]).toEqual([200, { resolves: 1, media: before.media }]);
    const { status, headers, body } = await target.get(`${path}${query}`);
    expect([status, requestsOf(link).resolves]).toEqual([200, 1]);
    expect(body.length).toBe(Number(headers['content-length']));
    expect((await detailsOf(link)).availableInSeconds).toBeNull();
  });

  it('is refused with the seconds when they are more than 20', async () => {
    const { path } = await renditionOf(target, '/site/combined/far?wait=60');
    const refused = await target.get(path);
    expect(expectFailure(refused, 503).type).toBe('/problems/delayed');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(20);
  });
});
