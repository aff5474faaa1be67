import { describe, expect, it } from 'vitest';
import { ChunkSizer, planRange, planRecovery } from '../src/upstream-request.ts';

const MiB = 1024 * 1024;
const sizer = () => new ChunkSizer({ defaultChunkBytes: 1000, minChunkBytes: 100 });
const whole = { first: 0, last: undefined };

describe('planRange', () => {
  const chunks = sizer();
  const optional = { rangeRequirement: { isRequired: false, chunks: sizer() } };
  const required = { rangeRequirement: { isRequired: true, chunks: sizer() } };

  it.each([
    ['a file by ranges of the chunk size', { first: 50, last: 9999 }, { chunks }, false, 1049],
    ['the rest of a file that is smaller than a chunk', { first: 50, last: 60 }, { chunks }, false, 60],
    ['a file of unknown size without a Range header', whole, { chunks }, false, undefined],
    ['a segment without a Range header', whole, optional, false, undefined],
    ['a byte range of a segment in one request', { first: 5, last: 9999 }, optional, false, 9999],
    ['a segment of a source that requires ranges by chunks', whole, required, false, 999],
    ['a small range after a refusal without one', whole, optional, true, 99],
  ])('requests %s', (_, requested, policy, retryWithRange, last) => {
    expect(planRange(requested, policy, retryWithRange).range).toMatchObject({ first: requested.first, last });
  });
});

describe('planRecovery', () => {
  const range = { first: 0, last: 999 };

  it('requests a smaller range until minChunkBytes', () => {
    const chunks = sizer();
    expect(planRecovery({ range, chunks }, { chunks }, false, 416)).toBe('smaller-range');
    expect(planRecovery({ range: { first: 0, last: 99 }, chunks }, { chunks }, false, 416)).toBeUndefined();
  });

  it.each([
    [403, false, 'with-range'],
    [416, false, 'with-range'],
    [403, true, undefined],
    [401, false, undefined],
    [404, false, undefined],
    [410, false, undefined],
  ])('after %d without a Range header (already retried: %j) returns %j', (status, retryWithRange, recovery) => {
    const policy = { rangeRequirement: { isRequired: false, chunks: sizer() } };
    expect(planRecovery({ range: whole, chunks: undefined }, policy, retryWithRange, status)).toBe(recovery);
  });
});

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
