import { describe, expect, it } from 'vitest';
import {
  allocateSegment,
  measurePlace,
  type PlaceRun,
  packPlace,
  placeParts,
  runParts,
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
const runs: readonly PlaceRun[] = [
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
const pack = (of: readonly PlaceRun[] = runs) => packPlace(measurePlace(of) + 30, 4, { runs: of, segment });
const place = pack();
const bytes = Buffer.concat([...placeParts(place)]);

describe('a packed place', () => {
  it('has the bytes that its frame says, with the length of each unit', () => {
    expect(bytes.length).toBe(measurePlace(runs) + 30);
    const media = bytes.subarray(place.frame.head.length, bytes.length - place.frame.tail.length).toString('hex');
    expect(media).toBe(
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

  it('keeps its samples, and what lies elsewhere than in its segment', () => {
    expect(place.runs.map(unpackSamples)).toEqual(runs.map(({ samples }) => samples));
    expect(place.memory.map((each) => (each === segment ? 'segment' : each.toString()))).toEqual(['segment', 'sound']);
  });

  it('is the same after it has been cloned', () => {
    const clone = structuredClone(place);
    const asBuffers = { ...clone, memory: clone.memory.map((each) => Buffer.from(each)) };
    expect(Buffer.concat([...placeParts(asBuffers)]).equals(bytes)).toBe(true);
  });

  it('has the bytes of a run from any offset to any other', () => {
    for (const run of place.runs) {
      const whole = Buffer.concat([...runParts(place, run)]);
      for (let first = 0; first < whole.length; first += 1)
        for (let end = first + 1; end <= whole.length; end += 1)
          expect(Buffer.concat([...runParts(place, run, first, end)]).equals(whole.subarray(first, end))).toBe(true);
    }
  });

  it('is refused with samples of another size than their data', () => {
    const [video, sound] = runs as [PlaceRun, PlaceRun];
    const shorter = { ...sound, data: [Buffer.from('soun')] };
    expect(() => pack([video, shorter])).toThrow(UnsupportedMp4);
  });
});
