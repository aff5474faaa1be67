import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { descendants } from '../support/processes.ts';
import { openResponse, statusOrBroken } from '../support/request.ts';
import { renditionOf } from './stream-helpers.ts';
import { isRemote, useTarget } from './target.ts';

const target = useTarget();

const file = (name: string) => readFile(join(target.origin.mediaDir, name));

// Sources that are gone, expire, end early, or fail before or after the first byte of each kind of stream: test/faults.
it.each(['/hls/dead-variant.m3u8', '/hls/missing-segment.m3u8'])(
  'breaks the connection, or is answered with 404 or 502, when a part of %s is gone',
  async (link) => {
    const { status, resource } = await target.resolve(link);
    if (status !== 200) return expect([404, 502]).toContain(status);
    const { key, urlType } = resource.mediaItems[0]?.video?.renditions[0] ?? expect.fail('No video');
    const outcome = await statusOrBroken(target.get(`/api/Stream/${urlType}/${key}`));
    expect([404, 502, 'broken']).toContain(outcome);
  },
);

it('breaks the connection when the source is truncated', async () => {
  const { path } = await renditionOf(target, '/truncated/long.mp4');
  await expect(target.get(path)).rejects.toThrow();
});

it('continues at the exact byte of a source whose URLs expire midway', async () => {
  const { path } = await renditionOf(target, '/site/long-strict/middle', 'audio');
  const { body } = await openResponse(target.baseUrl + path);
  const pieces: Buffer[] = [];
  for await (const piece of body) {
    if (pieces.length === 0) target.origin.expireUrls();
    pieces.push(piece);
  }
  expect(Buffer.concat(pieces).equals(await file('long-audio.m4a'))).toBe(true);
});

it('ends the requests and processes of a live stream whose client disconnects', async () => {
  const { path } = await renditionOf(target, '/live/index.m3u8');
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
});
