import { describe, expect, it } from 'vitest';
import { ChunkSizer } from '../../../stream-service/source/upstream-request.ts';

const MiB = 1024 * 1024;

describe('ChunkSizer', () => {
  const limits = { defaultChunkBytes: 8 * MiB, minChunkBytes: MiB };

  it('starts small and doubles while chunks arrive quickly', () => {
    const plan = new ChunkSizer(limits);
    const sizes = [100, 100, 500, 100, 100].map((elapsed) => {
      plan.addTiming(plan.next, elapsed);
      return plan.next / MiB;
    });
    expect(sizes).toEqual([2, 4, 4, 8, 8]);
  });

  it('halves a refused size, down to minChunkBytes', () => {
    const plan = new ChunkSizer(limits);
    expect([plan.reduce(8 * MiB), plan.limit / MiB]).toEqual([true, 4]);
    expect([plan.reduce(3 * MiB), plan.limit / MiB]).toEqual([true, 1.5]);
    expect([plan.reduce(1.5 * MiB), plan.limit / MiB]).toEqual([true, 1]);
    expect([plan.reduce(MiB), plan.limit / MiB]).toEqual([false, 1]);
  });

  it('does not halve a size that was granted before', () => {
    const plan = new ChunkSizer(limits);
    plan.addGranted(4 * MiB);
    expect(plan.reduce(4 * MiB)).toBe(false);
    expect(plan.reduce(8 * MiB)).toBe(true);
  });

  it.each([
    [300_000, 300_000, 300_000],
    [10 * MiB, MiB, 10 * MiB],
    [250 * MiB, MiB, 16 * MiB],
    [0, 1, 1],
  ])('respects the format maximum of %d bytes', (allowed, first, most) => {
    const plan = new ChunkSizer(limits, allowed);
    expect([plan.next, plan.limit]).toEqual([first, most]);
  });
});
