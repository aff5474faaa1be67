import { describe, expect, it } from 'vitest';
import { splitRemaining } from '../../../../../stream-service/outputs/encode/frames/ranged-stream.ts';

const SEGMENT = 6000;

describe('splitRemaining', () => {
  it.each([
    ['the first segment of many', { begun: [], segment: SEGMENT, left: 150_001 }, SEGMENT],
    ['a segment of many', { begun: [5500], segment: SEGMENT, left: 144_000 }, SEGMENT],
    ['half of the last, where all have as much to do', { begun: [2000, 2000], segment: SEGMENT, left: 6000 }, 3000],
    ['half of it, where one frame follows', { begun: [2000, 2000], segment: SEGMENT, left: 6001 }, 3001],
    ['what is left of it', { begun: [2000, 2000, 3001], segment: 2999, left: 3000 }, 2999],
    ['less of it, where another is nearly done', { begun: [5500, SEGMENT], segment: 4000, left: 4000 }, 2250],
    ['all of it, where another has much more to do', { begun: [1000, SEGMENT], segment: 4000, left: 4000 }, 4000],
    ['no range that is not worth the start', { begun: [1000, 1000], segment: 1500, left: 1500 }, 1500],
    ['and leaves no such range', { begun: [3000, 4000], segment: 2900, left: 2900 }, 2900],
  ])('assigns %s', (_what, work, frames) => expect(splitRemaining({ ...work, encoders: 2 })).toBe(frames));

  it('assigns everything to a single encoder', () => {
    expect(splitRemaining({ begun: [3000], segment: SEGMENT, left: 9000, encoders: 1 })).toBe(SEGMENT);
    expect(splitRemaining({ begun: [3000], segment: 3000, left: 3000, encoders: 1 })).toBe(3000);
  });

  it('lets four encoders finish together', () => {
    const begun = [3000, 3000, 3000, 3000];
    const shares: number[] = [];
    for (let left = 10_000; left > 0; left -= shares.at(-1) ?? left) {
      const segment = left > 4000 ? left - 4000 : left;
      shares.push(splitRemaining({ begun: [...begun, ...shares], segment, left, encoders: 4 }));
    }
    expect(shares).toEqual([2500, 2500, 1000, 2500, 1500]);
  });
});
