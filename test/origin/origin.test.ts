import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { sendRequest } from '../support/request.ts';
import { startOrigin } from './server.ts';
import { STRICT_CHUNK } from './sites/watch-rules.ts';

const origin = closeAfterwards(await startOrigin());

const get = (path: string, headers: Record<string, string> = {}) => sendRequest(origin.url(path), { headers });

describe('startOrigin', () => {
  it.each([
    ['bytes=0-9', 206, 0, 10],
    ['bytes=-10', 206, -10, undefined],
    ['bytes=100-', 206, 100, undefined],
    ['bytes=0-1,5-6', 200, 0, undefined],
  ] as const)('serves %s of a file as %d', async (range, status, from, to) => {
    const file = await readFile(join(origin.mediaDir, 'clip.mp4'));
    const answer = await get('/files/clip.mp4', { range });
    expect(answer.status).toBe(status);
    expect(answer.body.equals(file.subarray(from, to))).toBe(true);
  });

  it('answers 416 to a range beyond the end', async () => {
    expect((await get('/files/clip.mp4', { range: 'bytes=999999999-' })).status).toBe(416);
  });

  it('serves no file outside of its folder', async () => {
    expect((await get('/files/..%2f..%2f..%2fpackage.json')).status).toBe(404);
  });

  it('serves a live playlist beyond the length of its media, and every segment in it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const seen = new Set<string>();
      for (let seconds = 0; seconds < 360; seconds += 10) {
        const list = (await get('/live/index.m3u8')).body.toString();
        for (const [segment] of list.matchAll(/^\d+\.ts$/gm)) seen.add(segment);
        vi.advanceTimersByTime(10_000);
      }
      expect(seen.size).toBe(120);
      for (const segment of seen) expect((await get(`/live/${segment}`)).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  it('truncates the files below /truncated/', async () => {
    await expect(get('/truncated/clip.mp4')).rejects.toThrow();
    await expect(get('/trouble/reset')).rejects.toThrow();
  });

  it('records requests and their outcome', async () => {
    await get('/files/tone.mp3?once', { 'x-mark': 'seen' });
    await get('/truncated/tone.mp3?once').catch(() => undefined);
    await expect
      .poll(() => origin.requests.filter(({ path }) => path.endsWith('?once')))
      .toMatchObject([{ state: 'done', headers: { 'x-mark': 'seen' } }, { state: 'left' }]);
  });
});

describe('watch site', () => {
  interface Format {
    readonly format_id: string;
    readonly url: string;
    readonly filesize: number;
    readonly http_headers: Record<string, string>;
  }
  const COOKIE = { cookie: 'watch=let-me-in' };
  const formatOf = async (link: string): Promise<Format> => {
    const { info } = JSON.parse((await get(link)).body.toString());
    return info.formats.find(({ format_id }: Format) => format_id === 'h264-720');
  };
  const statusOf = async (url: string, headers: Record<string, string>, method = 'GET') =>
    (await sendRequest(url, { headers, method })).status;

  it('refuses requests that violate the rule of a file', async () => {
    const { url, http_headers } = await formatOf('/site-api/watch/rules');
    const good = { ...http_headers, ...COOKIE, range: `bytes=0-${STRICT_CHUNK - 1}` };
    expect(await statusOf(url, good)).toBe(206);
    expect(await statusOf(url, { ...good, range: `bytes=0-${STRICT_CHUNK}` })).toBe(403);
    expect(await statusOf(url, { ...good, range: 'bytes=0-' })).toBe(403);
    expect(await statusOf(url, { ...http_headers, ...COOKIE })).toBe(403);
    expect(await statusOf(url, { ...good, cookie: '' })).toBe(403);
    expect(await statusOf(url, { ...good, cookie: 'watch=let-me-in; elsewhere=secret' })).toBe(403);
    expect(await statusOf(url, { ...good, 'X-Format': 'aac-128' })).toBe(403);
    expect(await statusOf(url, { ...good, Referer: 'http://other.invalid/' })).toBe(403);
    expect(await statusOf(url, good, 'HEAD')).toBe(403);
  });

  it('expires its URLs and issues new ones', async () => {
    const before = await formatOf('/site-api/open/expiry');
    expect(await statusOf(before.url, {})).toBe(200);
    origin.expireUrls();
    expect(await statusOf(before.url, {})).toBe(403);
    expect(await statusOf((await formatOf('/site-api/open/expiry')).url, {})).toBe(200);
    expect(await statusOf((await formatOf('/site-api/open/expiry?life=0')).url, {})).toBe(403);
  });

  it('reports the size of its files', async () => {
    const { url, filesize } = await formatOf('/site-api/open/size');
    const file = await readFile(join(origin.mediaDir, 'ladder/h264-720.mp4'));
    const { body } = await sendRequest(url);
    expect(body.length).toBe(filesize);
    expect(createHash('sha256').update(body).digest('hex')).toBe(createHash('sha256').update(file).digest('hex'));
  });
});
