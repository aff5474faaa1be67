import { describe, expect, it } from 'vitest';
import { box, fullBox, u32, u64 } from '../../src/isobmff/boxes.ts';
import { shiftFragment } from '../../src/isobmff/fragment-writer.ts';
import { fragmentTimes } from '../../src/isobmff/movie-fragment.ts';

const DURATION = 0x8;
const BASE_IS_MOOF = 0x2_0000;
const OFFSET_AND_SIZES = 0x201;
const OFFSET_AND_DURATIONS = 0x101;
const SAMPLE_BYTES = [5, 7];

const track = (id: number, timescale: number) => ({
  id,
  kind: 'vide',
  timescale,
  sampleDuration: 1,
  description: Buffer.alloc(0),
});
const TRACKS = [track(1, 10), track(2, 1000)];

/** Two tracks, the time of the first in 32 bits, and their samples behind it. */
function fragment(offsets: readonly [number, number]): Buffer {
  const video = box(
    'traf',
    fullBox('tfhd', 0, BASE_IS_MOOF | DURATION, u32(1, 2)),
    fullBox('tfdt', 0, 0, u32(100)),
    fullBox('trun', 0, OFFSET_AND_SIZES, u32(2, offsets[0], ...SAMPLE_BYTES)),
  );
  const audio = box(
    'traf',
    fullBox('tfhd', 0, BASE_IS_MOOF, u32(2)),
    fullBox('tfdt', 1, 0, u64(10_250)),
    fullBox('trun', 0, OFFSET_AND_DURATIONS, u32(2, offsets[1], 20, 30)),
  );
  return box('moof', fullBox('mfhd', 0, 0, u32(1)), video, audio);
}
const [bytes] = [fragment([0, 0]).length];
const moof = fragment([bytes + 8, bytes + 20]);

/** Where the runs of a fragment find their samples. */
const offsetsOf = (fragment: Buffer) => {
  const places = [fragment.indexOf('trun'), fragment.lastIndexOf('trun')];
  return places.map((at) => fragment.readInt32BE(at + 12));
};

describe('fragment times', () => {
  it('are read for every track, in seconds, up to the end of its samples', () => {
    expect(fragmentTimes(moof, TRACKS)).toEqual([
      { id: 1, start: 10, end: 10.4 },
      { id: 2, start: 10.25, end: 10.3 },
    ]);
  });

  it('are shifted together, also beyond 32 bits, with correct sample offsets', () => {
    const moved = shiftFragment(moof, (id) => 2 ** 32 * (id === 1 ? 10 : 1000));
    expect(moved.length).toBe(bytes + 4);
    expect(moved.readUInt32BE(0)).toBe(moved.length);
    expect(offsetsOf(moved)).toEqual([bytes + 4 + 8, bytes + 4 + 20]);
    expect(fragmentTimes(moved, TRACKS)).toEqual([
      { id: 1, start: 2 ** 32 + 10, end: 2 ** 32 + 10.4 },
      { id: 2, start: 2 ** 32 + 10.25, end: 2 ** 32 + 10.3 },
    ]);
  });

  it('are never shifted below 0', () => {
    expect(
      fragmentTimes(
        shiftFragment(moof, () => -20_000),
        TRACKS,
      ).map(({ start }) => start),
    ).toEqual([0, 0]);
  });
});
