import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../support/request.ts';
import { init, listed, playlist, segments, useSegmentedSite, whole } from './segmented-fixture.ts';
import { readAll, sha256, statusOf } from './upstream.ts';

const site = useSegmentedSite();

describe('live HLS source', () => {
  const files = Object.fromEntries([0, 1, 2, 3].map((index) => [`/${index}.ts`, segments[index] ?? init]));
  const sliding = (from: number, to: number, end = false) =>
    playlist(['#EXT-X-TARGETDURATION:0', `#EXT-X-MEDIA-SEQUENCE:${from}`, ...listed(from, to)], end);

  it('reads every segment exactly once until the end', async () => {
    let look = 0;
    site.serve({
      '/index.m3u8': () => [sliding(0, 1), sliding(0, 1), sliding(0, 3), sliding(1, 3)][look++] ?? sliding(2, 4, true),
      ...files,
    });
    const source = await site.open({}, {}, true);
    expect(source.durationSeconds).toBeUndefined();
    expect(await readAll(source.readAll())).toBe(whole);
  });

  it('goes on where an encoder has restarted, but not for an edge that lags behind or an empty list', async () => {
    const list = (sequence: number, from: number, to: number, end = false) =>
      playlist(['#EXT-X-TARGETDURATION:0', `#EXT-X-MEDIA-SEQUENCE:${sequence}`, ...listed(from, to)], end);
    const lists = [list(101, 0, 2), list(100, 2, 4), list(103, 0, 0), list(0, 2, 3)];
    let look = 0;
    site.serve({ '/index.m3u8': () => lists[look++] ?? list(1, 3, 4, true), ...files });
    expect(await readAll((await site.open({}, {}, true)).readAll())).toBe(whole);
  });

  it('starts with the newest segments', async () => {
    let look = 0;
    site.serve({ '/index.m3u8': () => (look++ === 0 ? sliding(0, 4) : sliding(0, 4, true)), ...files });
    const source = await site.open({}, {}, true);
    expect(await readAll(source.readAll())).toBe(sha256(Buffer.concat(segments.slice(1))));
  });

  it('continues after a gap', async () => {
    let look = 0;
    const gap = ['#EXT-X-GAP', '#EXTINF:4,', 'gone.ts'];
    const lists = [[...listed(0, 1)], [...listed(0, 1), ...gap], [...listed(0, 1), ...gap, ...listed(2, 3)]];
    const asked = site.serve({
      '/index.m3u8': () =>
        playlist(['#EXT-X-TARGETDURATION:0', ...(lists[look++] ?? [...(lists[2] ?? []), ...gap])], look > 3),
      ...files,
    });
    const source = await site.open({}, {}, true);
    const right = Buffer.concat([segments[0] ?? init, segments[2] ?? init]);
    expect(await readAll(source.readAll())).toBe(sha256(right));
    expect(asked).not.toContain('/gone.ts');
  });

  it('fails when only gaps are added', async () => {
    let look = 0;
    site.serve({
      '/index.m3u8': () =>
        playlist(
          ['#EXT-X-TARGETDURATION:0', ...listed(0, 1), ...Array(look++).fill('#EXT-X-GAP\n#EXTINF:4,\nx.ts')],
          false,
        ),
      ...files,
    });
    const source = await site.open({ limits: { liveStallTimeoutMs: 50 } }, {}, true);
    expect(await readAll(source.readAll())).toBe('broken 502');
  });

  it('fails after liveStallTimeoutMs without a new segment', async () => {
    site.serve({ '/index.m3u8': () => sliding(0, 2), ...files });
    const source = await site.open({ limits: { liveStallTimeoutMs: 50 } }, {}, true);
    expect(await readAll(source.readAll())).toBe('broken 502');
  });

  it('fails with 502 when no segment is ever listed, however soon an unread source is closed', async () => {
    site.serve({ '/index.m3u8': () => sliding(0, 0) });
    const limits = { unreadTimeoutMs: 10, liveStallTimeoutMs: 100 };
    expect(await statusOf(site.open({ limits }, {}, true))).toBe(502);
  });

  it('stops reloading when the stream is destroyed', async () => {
    const asked = site.serve({ '/index.m3u8': () => sliding(0, 2), ...files });
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
