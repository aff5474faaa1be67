import { describe, expect, it } from 'vitest';
import { splitRemaining } from '../../../../../stream-service/outputs/encode/frames/ranged-stream.ts';

const GROUP = 6000;

describe('splitRemaining', () => {
  it.each([
    ['the first group of many', { begun: [], group: GROUP, left: 150_001 }, GROUP],
    ['a group of many', { begun: [5500], group: GROUP, left: 144_000 }, GROUP],
    ['half of the last, where all have as much to do', { begun: [2000, 2000], group: GROUP, left: 6000 }, 3000],
    ['half of it, where one frame follows', { begun: [2000, 2000], group: GROUP, left: 6001 }, 3001],
    ['what is left of it', { begun: [2000, 2000, 3001], group: 2999, left: 3000 }, 2999],
    ['less of it, where another is nearly done', { begun: [5500, GROUP], group: 4000, left: 4000 }, 2250],
    ['all of it, where another has much more to do', { begun: [1000, GROUP], group: 4000, left: 4000 }, 4000],
    ['no range that is not worth the start', { begun: [1000, 1000], group: 1500, left: 1500 }, 1500],
    ['and leaves no such range', { begun: [3000, 4000], group: 2900, left: 2900 }, 2900],
  ])('assigns %s', (_what, work, frames) => expect(splitRemaining({ ...work, encoders: 2 })).toBe(frames));

  it('assigns everything to a single encoder', () => {
    expect(splitRemaining({ begun: [3000], group: GROUP, left: 9000, encoders: 1 })).toBe(GROUP);
    expect(splitRemaining({ begun: [3000], group: 3000, left: 3000, encoders: 1 })).toBe(3000);
  });

  it('lets four encoders finish together', () => {
    const begun = [3000, 3000, 3000, 3000];
    const shares: number[] = [];
    for (let left = 10_000; left > 0; left -= shares.at(-1) ?? left) {
      const group = left > 4000 ? left - 4000 : left;
      shares.push(splitRemaining({ begun: [...begun, ...shares], group, left, encoders: 4 }));
    }
    expect(shares).toEqual([2500, 2500, 1000, 2500, 1500]);
  });
});
