import { once } from 'node:events';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { describe, expect, it, vi } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { init, parts, same, segments, useSegmentedSite } from './segmented-fixture.ts';
import { readAll, resourceWith, sha256, statusOf, trackAt } from './upstream.ts';

const site = useSegmentedSite();
const WITH_INIT = sha256(Buffer.concat([init, ...segments]));

describe('DASH source', () => {
  const fragmentsOf = (prefix = '', from = 0, to = 4) => [
    { url: `${site.origin}/${prefix}init.mp4`, seconds: 0 },
    ...[0, 1, 2, 3].slice(from, to).map((n) => ({ url: `${site.origin}/${prefix}${n}.ts`, seconds: 2.5 })),
  ];
  const dash = (fragments = fragmentsOf()): Partial<Track> => ({
    delivery: 'dash',
    fragments: packDashSegments(fragments),
  });

  it('reads fragments after their initialization segment', async () => {
    site.serve({ '/init.mp4': init, ...parts(segments) });
    const source = await site.open({}, dash());
    expect(source.durationSeconds).toBe(10);
    expect(await readAll(source.readAll())).toBe(WITH_INIT);
  });

  it.each([
    ['too many to store', () => undefined],
    ['stored by an earlier version, as objects', () => fragmentsOf() as never],
  ])('resolves again when the fragments were %s', async (_, stored) => {
    site.serve({ '/init.mp4': init, ...parts(segments) });
    const refresh = vi.fn(async () => resourceWith(trackAt('', dash())));
    const source = await site.open({ refresh }, { delivery: 'dash', fragments: stored() });
    expect(await readAll(source.readAll())).toBe(WITH_INIT);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('fails to open when no fragments can be resolved', async () => {
    expect(await statusOf(site.open({ refresh: same }, { delivery: 'dash' }))).toBe(502);
  });

  it('resolves expired fragment URLs again', async () => {
    site.serve({
      '/init.mp4': init,
      '/fresh/init.mp4': init,
      ...parts(segments.slice(0, 2)),
      ...parts(segments, '/fresh'),
    });
    const refresh = async () => resourceWith(trackAt('', dash(fragmentsOf('fresh/'))));
    expect(await site.read({ refresh }, dash())).toBe(WITH_INIT);
  });

  it('reloads the fragments of a live source', async () => {
    site.serve({ '/init.mp4': init, ...parts(segments) });
    let look = 0;
    const lists = [fragmentsOf('', 0, 2), fragmentsOf('', 1, 3), fragmentsOf('', 1, 4)];
    const refresh = async () =>
      resourceWith(
        trackAt('', dash((lists[look++] ?? lists[2] ?? []).map((f) => ({ ...f, seconds: f.seconds && 0.01 })))),
      );
    const source = await site.open(
      { refresh, limits: { liveStallTimeoutMs: 100 } },
      dash(fragmentsOf('', 0, 1).map((f) => ({ ...f, seconds: f.seconds && 0.01 }))),
      true,
    );
    const chunks: Buffer[] = [];
    const stream = source.readAll();
    stream.on('data', (chunk) => chunks.push(chunk));
    await once(stream, 'error').catch(() => undefined);
    expect(sha256(Buffer.concat(chunks))).toBe(WITH_INIT);
  });
});
