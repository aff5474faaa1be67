import { describe, expect, it } from 'vitest';
import { plausibleDuration } from '../src/values.ts';

describe('plausibleDuration', () => {
  it.each([
    // A forged mdhd: 98 hours in 102 KB.
    [354_000, 102_000, undefined],
    [100, 4_999, undefined],
    [100, 5_000, 100],
    // A header longer than its media.
    [60, 10, 60],
    [3600, undefined, 3600],
    [undefined, 1000, undefined],
  ])('of %j seconds in %j bytes is %j', (seconds, bytes, expected) =>
    expect(plausibleDuration(seconds, bytes)).toBe(expected),
  );
});
