import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspect } from '../support/media-tools.ts';
import { descendants } from '../support/processes.ts';
import { openResponse } from '../support/request.ts';
import { expectProblem } from './api-document.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { isRemote, useTarget } from './target.ts';

const target = useTarget();

/** The routes that stream an item of the watch site. */
const ROUTES: [name: string, path: (link: string) => Promise<string>][] = [
  ['Media', async (link) => (await renditionOf(target, link, 'audio')).path],
  ['mp3', async (link) => (await conversionOf(target, link)).path],
  ['Combined', async (link) => (await renditionOf(target, link, 'video')).path],
];

const file = (name: string) => readFile(join(target.origin.mediaDir, name));

describe('source that is gone before the first byte', () => {
  it.each(ROUTES)('is answered with 404 on %s', async (name, pathFor) => {
    const path = await pathFor(`/site/gone-later/${name}`);
    target.origin.expireUrls();
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(404);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expectProblem(404, JSON.parse(body.toString()));
  });

  it.each(['/hls/dead-variant.m3u8'])('is answered with 404 or 502: %s', async (link) => {
    const { status, resource } = await target.resolve(link);
    if (status !== 200) return expect([404, 502]).toContain(status);
    const { key, urlType } = resource.mediaItems[0]?.video?.renditions[0] ?? expect.fail('No video');
    expect([404, 502]).toContain((await target.get(`/api/Stream/${urlType}/${key}`)).status);
  });
});

describe('source with expired URLs', () => {
  it.each(ROUTES)('is resolved again on %s', async (name, pathFor) => {
    const path = await pathFor(`/site/watch/expired-${name}`);
    const before = await target.get(path);
    target.origin.expireUrls();
    const after = await target.get(path);
    expect(after.status).toBe(200);
    expect(after.body.equals(before.body)).toBe(true);
  });

  it('continues at the exact byte when they expire midway', async () => {
    const { path } = await renditionOf(target, '/site/long-strict/middle', 'audio');
    const { status, body } = await openResponse(target.baseUrl + path);
    expect(status).toBe(200);
    const pieces: Buffer[] = [];
    for await (const piece of body) {
      if (pieces.length === 0) target.origin.expireUrls();
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(await file('long-audio.m4a'))).toBe(true);
  });

  it('is requested with bounded ranges and the cookies of its host only', async () => {
    const { path } = await renditionOf(target, '/site/watch/rules', 'audio');
    const seen = target.origin.requestsTo('/site-media/strict/').length;
    expect((await target.get(path)).status).toBe(200);
    for (const { method, headers } of target.origin.requestsTo('/site-media/strict/').slice(seen)) {
      expect(method).toBe('GET');
      expect(headers.range).toMatch(/^bytes=\d+-\d+$/);
      expect(headers.cookie).not.toContain('elsewhere');
    }
  });
});

describe('failure after the first byte', () => {
  it('breaks the connection when the source is truncated', async () => {
    const { path } = await renditionOf(target, '/truncated/long.mp4');
    await expect(target.get(path)).rejects.toThrow();
  });

  it('breaks the connection, or is answered with 404 or 502, when a segment is missing', async () => {
    const { path } = await renditionOf(target, '/hls/missing-segment.m3u8');
    const outcome = await target.get(path).then(
      ({ status }) => status,
      () => 'broken',
    );
    expect([404, 502, 'broken']).toContain(outcome);
  });
});

describe('client that disconnects', () => {
  it.each([
    ['Media', () => renditionOf(target, '/slow/long.mp4?rate=400000')],
    ['mp3', () => conversionOf(target, '/slow/long.mp4?rate=400000')],
    ['Combined', () => renditionOf(target, '/site/long-strict/leave')],
    ['HLS', () => renditionOf(target, '/hls/long/index.m3u8')],
    ['live', () => renditionOf(target, '/live/index.m3u8')],
  ])('ends its requests and processes on %s', async (_, find) => {
    const { path } = await find();
    const leaving = new AbortController();
    const { status, body } = await openResponse(target.baseUrl + path, { signal: leaving.signal });
    expect(status).toBe(200);
    await new Promise((resolve) => body.once('data', resolve));
    body.on('error', () => undefined);
    leaving.abort();

    const unfinished = () => target.origin.requests.filter(({ state }) => state === 'open');
    await expect.poll(unfinished).toEqual([]);
    if (!isRemote) await expect.poll(() => descendants('ffmpeg')).toEqual([]);
  });

  it('during a resolve does not affect later requests', async () => {
    const leaving = new AbortController();
    const link = encodeURIComponent(target.origin.url('/site/sleep/leaves'));
    const answer = target.get(`/api/Fetch/GetResource?url=${link}`, { signal: leaving.signal });
    await expect.poll(() => target.origin.requestsTo('/site-api/sleep/leaves').length).toBe(1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    expect((await target.resolve('/site/combined/still-well')).status).toBe(200);
  });
});

describe('concurrent requests', () => {
  it('resolve the same link once', async () => {
    const link = '/site/combined/together';
    const answers = await Promise.all(Array.from({ length: 8 }, () => target.resolve(link)));
    expect(new Set(answers.map(({ resource }) => JSON.stringify(resource))).size).toBe(1);
    expect(target.origin.requestsTo('/site-api/combined/together')).toHaveLength(1);
  });

  it('get their ranges of one stream', async () => {
    const { path } = await renditionOf(target, '/site/long-strict/parts', 'audio');
    const bytes = await file('long-audio.m4a');
    const part = Math.ceil(bytes.length / 4);
    const answers = await Promise.all(
      [0, 1, 2, 3].map((at) =>
        target.get(path, { headers: { range: `bytes=${at * part}-${Math.min((at + 1) * part, bytes.length) - 1}` } }),
      ),
    );
    expect(Buffer.concat(answers.map(({ body }) => body)).equals(bytes)).toBe(true);
  });

  it('for streams of different kinds are independent', async () => {
    const paths = await Promise.all([
      renditionOf(target, '/site/watch/crowd'),
      conversionOf(target, '/files/clip.mp4'),
      renditionOf(target, '/hls/ts/index.m3u8'),
    ]);
    const answers = await Promise.all(paths.map(({ path }) => target.get(path)));
    const codecs = await Promise.all(
      answers.map(({ body }, at) => inspect(body, paths[at]?.convertTo ? '.mp3' : '.mp4').then((film) => film.codecs)),
    );
    expect(codecs).toEqual([['h264', 'aac'], ['mp3'], ['h264', 'aac']]);
  });
});
