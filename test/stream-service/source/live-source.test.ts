import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../support/request.ts';
import { listed, playlist, segments, useSegmentedSite, whole } from './segmented-fixture.ts';
import { sha256, statusOf } from './upstream.ts';

const site = useSegmentedSite();

const list = (lines: readonly string[], end = false) => playlist(['#EXT-X-TARGETDURATION:0', ...lines], end);
const from = (sequence: number, first: number, last: number, end = false) =>
  list([`#EXT-X-MEDIA-SEQUENCE:${sequence}`, ...listed(first, last)], end);
const sliding = (first: number, last: number, end = false) => from(first, first, last, end);
/** A list at each look, and then the last one again. */
function serveLists(...lists: readonly string[]): string[] {
  let look = 0;
  return site.serveList(() => lists[Math.min(look++, lists.length - 1)] ?? '');
}
const SOON = { limits: { liveStallTimeoutMs: 50 } };

describe('live HLS source', () => {
  it('reads every segment exactly once until the end', async () => {
    serveLists(sliding(0, 1), sliding(0, 1), sliding(0, 3), sliding(1, 3), sliding(2, 4, true));
    expect(await site.read({}, {}, true)).toBe(whole);
  });

  it('has no duration', async () => {
    serveLists(sliding(0, 1));
    const source = await site.open({}, {}, true);
    source.close();
    expect(source.durationSeconds).toBeUndefined();
  });

  it('goes on where an encoder has restarted, but not for an edge that lags behind or an empty list', async () => {
    serveLists(from(101, 0, 2), from(100, 2, 4), from(103, 0, 0), from(0, 2, 3), from(1, 3, 4, true));
    expect(await site.read({}, {}, true)).toBe(whole);
  });

  it('starts with the newest segments', async () => {
    serveLists(sliding(0, 4), sliding(0, 4, true));
    expect(await site.read({}, {}, true)).toBe(sha256(Buffer.concat(segments.slice(1))));
  });

  it('continues after a gap', async () => {
    const gap = ['#EXT-X-GAP', '#EXTINF:4,', 'gone.ts'];
    const [first, second] = [listed(0, 1), [...listed(0, 1), ...gap]];
    const third = [...second, ...listed(2, 3)];
    const asked = serveLists(list(first), list(second), list(third), list([...third, ...gap], true));
    expect(await site.read({}, {}, true)).toBe(sha256(Buffer.concat([0, 2].flatMap((index) => segments[index] ?? []))));
    expect(asked).not.toContain('/gone.ts');
  });

  it('fails when only gaps are added', async () => {
    let look = 0;
    site.serveList(() => list([...listed(0, 1), ...Array(look++).fill('#EXT-X-GAP\n#EXTINF:4,\nx.ts')]));
    expect(await site.read(SOON, {}, true)).toBe('broken 502');
  });

  it('fails after liveStallTimeoutMs without a new segment', async () => {
    serveLists(sliding(0, 2));
    expect(await site.read(SOON, {}, true)).toBe('broken 502');
  });

  it('fails with 502 when no segment is ever listed, however soon an unread source is closed', async () => {
    serveLists(sliding(0, 0));
    const limits = { unreadTimeoutMs: 10, liveStallTimeoutMs: 100 };
    expect(await statusOf(site.open({ limits }, {}, true))).toBe(502);
  });

  it('stops reloading when the stream is destroyed', async () => {
    const asked = serveLists(sliding(0, 2));
    const stream = (await site.open({}, {}, true)).readAll();
    stream.resume();
    await expect.poll(() => asked.filter((path) => path === '/index.m3u8').length).toBeGreaterThan(2);
    stream.destroy();
    await once(stream, 'close');
    const looks = asked.length;
    // Enough for many reloads at an interval of 5 ms.
    const others = 50;
    for (let left = others; left > 0; left--) await sendRequest(`${site.origin}/0.ts`);
    expect(asked.length - looks - others).toBeLessThanOrEqual(1);
  });
});
