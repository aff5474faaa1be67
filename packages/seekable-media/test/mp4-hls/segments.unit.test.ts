import { describe, expect, it } from 'vitest';
import { areIndependent, bandwidthOf, groupFragments } from '../../src/mp4-hls/segments.ts';

const SYNC = 0x9000_0000;
const fragments = (seconds: readonly number[], accessPoint = SYNC) =>
  seconds.map((each) => ({ bytes: each * 100, duration: each * 10, accessPoint }));
const durations = (seconds: readonly number[], accessPoint = SYNC) =>
  groupFragments(fragments(seconds, accessPoint), 1000, 10).map(({ durationSeconds }) => durationSeconds);

describe('groupFragments', () => {
  it.each([
    [
      [5, 5, 5],
      [5, 5, 5],
    ],
    [
      [2, 2, 2, 2, 1],
      [6, 3],
    ],
    [
      [1, 1, 1, 1, 1, 1, 1],
      [6, 1],
    ],
    [
      [10, 1, 1],
      [10, 2],
    ],
  ])('joins fragments of %j s to segments of %j s', (given, expected) => expect(durations(given)).toEqual(expected));

  it('begins segments with a sync sample only', () => {
    const given = fragments([4, 4, 4, 4]).map((each, index) => ({ ...each, accessPoint: index % 3 ? 0 : SYNC }));
    expect(groupFragments(given, 1000, 10)).toEqual([
      { offset: 1000, bytes: 1200, durationSeconds: 12 },
      { offset: 2200, bytes: 400, durationSeconds: 4 },
    ]);
    expect(areIndependent(given)).toBe(true);
  });

  it('cuts anywhere where the index names no sync samples', () => {
    expect(durations([4, 4, 4], 0)).toEqual([4, 4, 4]);
    expect(areIndependent(fragments([4, 4], 0))).toBe(false);
  });
});

describe('bandwidthOf', () => {
  const segments = (all: readonly (readonly [seconds: number, bytes: number])[]) =>
    all.map(([durationSeconds, bytes]) => ({ offset: 0, bytes, durationSeconds }));

  it('is the largest rate of segments between half and one and a half target durations', () => {
    const all = segments([
      [6, 6000],
      [6, 12_000],
      [1, 9000],
    ]);
    // The last one alone is too short to count, and counts with the one before it.
    expect(bandwidthOf(all, 6)).toEqual({ peak: 24_000, average: Math.ceil((27_000 * 8) / 13) });
  });

  it('is the average where every segment is too short', () => {
    expect(bandwidthOf(segments([[1, 1000]]), 6)).toEqual({ peak: 8000, average: 8000 });
  });
});
