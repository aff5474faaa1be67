import { describe, expect, it } from 'vitest';
import {
  allocateSegment,
  type FragmentSamples,
  packRuns,
  runParts,
  type TrackRun,
  UnsupportedMp4,
  unpackSamples,
} from '../src/isobmff/index.ts';

const segment = allocateSegment(64);
for (const index of segment.keys()) segment[index] = index;
const sample = (size: number, index: number) => ({
  duration: 40,
  size,
  compositionOffset: -index,
  isSync: index === 0,
});
/** Three pictures as units without their lengths, with a gap between two of them, and sound that lies elsewhere. */
const runs: readonly TrackRun[] = [
  {
    trackId: 1,
    decodeTime: 7,
    description: 1,
    samples: [9, 14, 5].map(sample),
    data: [segment.subarray(0, 5), segment.subarray(8, 18), segment.subarray(20, 21)],
    lacksLengths: true,
  },
  { trackId: 2, decodeTime: 9, description: 2, samples: [3, 2].map(sample), data: [Buffer.from('sound')] },
];
const place = packRuns(runs, segment);
const mediaOf = (of: FragmentSamples): Buffer => Buffer.concat(of.runs.flatMap((run) => [...runParts(of, run)]));

describe('packed samples', () => {
  it('have their bytes in order, with the length of each unit', () => {
    expect(mediaOf(place).toString('hex')).toBe(
      [
        [0, 5],
        [8, 18],
        [20, 21],
      ]
        .map(
          ([from = 0, to = 0]) =>
            `000000${(to - from).toString(16).padStart(2, '0')}${segment.toString('hex', from, to)}`,
        )
        .join('') + Buffer.from('sound').toString('hex'),
    );
  });

  it('keep what they are, and what lies elsewhere than in their segment', () => {
    expect(place.runs.map(unpackSamples)).toEqual(runs.map(({ samples }) => samples));
    expect(place.memory.map((each) => (each === segment ? 'segment' : each.toString()))).toEqual(['segment', 'sound']);
  });

  it('are the same after they have been cloned', () => {
    const clone = structuredClone(place);
    const asBuffers = { ...clone, memory: clone.memory.map((each) => Buffer.from(each)) };
    expect(mediaOf(asBuffers).equals(mediaOf(place))).toBe(true);
  });

  it('have the bytes of a run from any offset to any other', () => {
    for (const run of place.runs) {
      const whole = Buffer.concat([...runParts(place, run)]);
      for (let first = 0; first < whole.length; first += 1)
        for (let end = first + 1; end <= whole.length; end += 1)
          expect(Buffer.concat([...runParts(place, run, first, end)]).equals(whole.subarray(first, end))).toBe(true);
    }
  });

  it('are refused with another size than their data', () => {
    const [video, sound] = runs as [TrackRun, TrackRun];
    const shorter = { ...sound, data: [Buffer.from('soun')] };
    expect(() => packRuns([video, shorter], segment)).toThrow(UnsupportedMp4);
  });
});
