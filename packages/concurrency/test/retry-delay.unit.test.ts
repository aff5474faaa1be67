import { describe, expect, it } from 'vitest';
import { getRetryDelay } from '../src/timing.ts';

describe('getRetryDelay', () => {
  it.each([
    [1, 500],
    [2, 1_000],
    [6, 16_000],
    [7, 30_000],
    [2_000, 30_000],
  ])('after %d failures is %d ms, doubled from 500 ms up to 30 s', (failures, expected) =>
    expect(getRetryDelay(failures, { initialDelayMs: 500, maxDelayMs: 30_000 })).toBe(expected),
  );

  it('has no limit unless one is given', () => expect(getRetryDelay(11, { initialDelayMs: 1_000 })).toBe(1_024_000));
});
