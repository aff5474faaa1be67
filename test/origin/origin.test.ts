import { describe, expect, it, vi } from 'vitest';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { sendRequest } from '../support/request.ts';
import { startOrigin } from './server.ts';
import { STRICT_CHUNK } from './sites/watch-rules.ts';

const origin = closeAfterwards(await startOrigin());

const get = (path: string, headers: Record<string, string> = {}) => sendRequest(origin.url(path), { headers });

describe('startOrigin', () => {
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
    const { range: _, ...whole } = good;
    const changes = [
      { range: `bytes=0-${STRICT_CHUNK}` },
      { range: 'bytes=0-' },
      { cookie: '' },
      { cookie: 'watch=let-me-in; elsewhere=secret' },
      { 'X-Format': 'aac-128' },
      { Referer: 'http://other.invalid/' },
    ];
    for (const headers of [whole, ...changes.map((change) => ({ ...good, ...change }))])
      expect(await statusOf(url, headers), JSON.stringify(headers)).toBe(403);
    expect(await statusOf(url, good, 'HEAD')).toBe(403);
  });

  it('expires its URLs and issues new ones', async () => {
    const before = await formatOf('/site-api/open/expiry');
    expect(await statusOf(before.url, {})).toBe(200);
    origin.expireUrls();
    expect(await statusOf(before.url, {})).toBe(403);
    expect(await statusOf((await formatOf('/site-api/open/expiry')).url, {})).toBe(200);
  });
});
