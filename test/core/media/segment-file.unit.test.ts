import { describe, expect, it } from 'vitest';
import {
  box,
  indexContent,
  measurePlace,
  parseSegmentIndex,
  parseTrackHeader,
  UnsupportedMp4,
  u32,
  writeFragmentedMovie,
  writePlace,
} from '../../../core/media/isobmff/index.ts';
import {
  createTable,
  type Encoding,
  type ListedSegment,
  layOutFile,
  MAX_PLACE_BYTES,
  MAX_PLACES,
  packTable,
  presentationOf,
  recognizeFormat,
  segmentFormat,
  unpackTable,
} from '../../../core/media/segment-file/index.ts';

const encodingOf = (...timescales: readonly number[]): Encoding => ({
  state: Buffer.from(timescales.join()),
  tracks: timescales.map((timescale, index) => ({
    kind: index === 0 ? 'vide' : 'soun',
    timescale,
    sampleEntry: box(index === 0 ? 'avc1' : 'mp4a', u32(timescale)),
    presentation: presentationOf(index === 0 ? { width: 64, height: 48 } : undefined),
  })),
});

const BOTH = encodingOf(12_800, 48_000);

/** Segments of two seconds, whose video begins at the times. */
const listed = (times: readonly number[], more: Partial<ListedSegment> = {}, encoding = BOTH): ListedSegment[] =>
  times.map((seconds, index) => {
    const startTime = seconds * 12_800;
    return {
      ...{ segmentBytes: 1000 + index, seconds: 2, gapSeconds: 0, isDiscontinuity: false, ...more },
      facts: { encoding, mainKind: 'vide', startTime, earliestTime: startTime, startsWithSync: true, placeBytes: 990 },
    };
  });

const secondsOf = (segments: readonly ListedSegment[]) => {
  const { places, timescale } = createTable('mp4', segments);
  return places.map(({ time }) => time / timescale);
};

describe('a table of segments', () => {
  it('has one time scale, in which all times are whole', () => {
    const { timescale, startTime, endTime } = createTable('mp4', listed([10, 12]));
    expect([timescale, startTime, endTime]).toEqual([192_000, 1_920_000, 2_688_000]);
  });

  it.each([
    ['has the times of its segments, gaps in their clock included', listed([5, 7, 12]), [5, 7, 12]],
    ['continues where the clock has been set anew', listed([5, 7, 1000, 1002]), [5, 7, 9, 11]],
    ['continues where the clock begins again', listed([5, 7, 0, 2]), [5, 7, 9, 11]],
    ['continues at a discontinuity', [...listed([5]), ...listed([8], { isDiscontinuity: true })], [5, 7]],
    [
      'leaves room for declared gaps',
      [...listed([5]), ...listed([0], { isDiscontinuity: true, gapSeconds: 4 })],
      [5, 11],
    ],
  ])('%s', (_, segments, expected) => expect(secondsOf(segments)).toEqual(expected));

  it('is the same when it has been stored, in some bytes a segment', () => {
    const times = Array.from({ length: 1000 }, (_, index) => 7 + index * 2 + (index % 3) / 25);
    const segments = [...listed(times), ...listed([0, 2], { isDiscontinuity: true }, encodingOf(25_600, 48_000))];
    const table = createTable('mp4', segments);
    expect(table.encodings.length).toBe(2);
    const packed = packTable(table);
    expect(unpackTable(packed)).toEqual(table);
    expect(packed.length).toBeLessThan(2000 + 10 * 1000);
  });

  it.each([
    ['no segments', []],
    ['more segments than an index has entries', listed(Array.from({ length: MAX_PLACES + 1 }, (_, index) => index))],
    ['time scales without a common one', listed([0], {}, encodingOf(10_000_019, 48_000))],
    [
      'a segment that is too large to keep in memory',
      listed([0]).map((each) => ({ ...each, facts: { ...each.facts, placeBytes: MAX_PLACE_BYTES + 1 } })),
    ],
    [
      'too many encodings',
      Array.from({ length: 65 }, (_, index) => listed([0], { isDiscontinuity: true }, encodingOf(1000 + index))).flat(),
    ],
  ])('is refused for %s', (_, segments) => expect(() => createTable('mp4', segments)).toThrow(UnsupportedMp4));
});

describe('the header of a file', () => {
  it('has one index of decode times, and begins at the time that it is given', () => {
    const table = createTable('mp4', listed([10, 12, 14]));
    const { header, offsets } = layOutFile(table, 9.5);
    const index = parseSegmentIndex(header.subarray(header.indexOf('sidx') - 4));
    expect(index).toMatchObject({ timescale: 192_000, earliestPresentationTime: 96_000, firstOffset: 0 });
    expect(index?.entries.map(({ size, duration }) => [size, duration])).toEqual([
      [990, 384_000],
      [990, 384_000],
      [990, 384_000],
    ]);
    expect(offsets).toEqual([0, 990, 1980, 2970].map((bytes) => header.length + bytes));
    expect(header.includes('edts')).toBe(false);
  });
});

describe('segments of fragmented MP4', () => {
  const head = (bytes: Buffer, isWhole = false) => ({
    ...{ bytes, isWhole, size: 100_000, init: undefined },
    encoding: undefined,
  });

  it.each([
    ['no boxes', Buffer.alloc(64), true],
    ['no moov', box('moof', Buffer.alloc(64)), true],
    ['a moof that is cut', box('moof', Buffer.alloc(64)).subarray(0, 40), true],
    ['a moof that is too large', Buffer.concat([u32(0x7fff_ffff), Buffer.from('moof'), Buffer.alloc(64)]), false],
  ])('are refused with %s', (_, bytes, isWhole) =>
    expect(() => segmentFormat('mp4').inspect(head(bytes, isWhole))).toThrow(UnsupportedMp4),
  );

  it('begin before 0 where an edit list leaves their first samples out', () => {
    const table = createTable('mp4', listed([0], {}, encodingOf(12_800)));
    const movie = indexContent(layOutFile(table, 0).header, 'file').require('moov');
    const header = { ...parseTrackHeader(movie, 'vide'), edits: [{ duration: 0, mediaTime: 1024n, rate: 0x1_0000 }] };
    const init = writeFragmentedMovie([{ header, durationSeconds: 0 }]);
    const sample = { duration: 512, size: 100, compositionOffset: 1024, isSync: true };
    const run = { trackId: 1, decodeTime: 0, description: 1, samples: [sample, sample], data: [Buffer.alloc(200)] };
    const bytes = writePlace(measurePlace([run]), 1, [run]);
    const facts = segmentFormat('mp4').inspect({ ...head(bytes, true), size: bytes.length, init });
    expect(facts).toMatchObject({ startTime: -1024, endTime: 0, startsWithSync: true });
  });

  it('are read on until their first fragment is there', () => {
    const moof = Buffer.concat([u32(5000), Buffer.from('moof'), Buffer.alloc(64)]);
    expect(segmentFormat('mp4').inspect(head(moof))).toEqual({ neededBytes: 5016 });
    const sidx = box('sidx', Buffer.alloc(92));
    expect(segmentFormat('mp4').inspect(head(sidx.subarray(0, 50)))).toEqual({ neededBytes: 100 + 1024 });
  });

  it('are told from other formats by their first box', () => {
    expect(recognizeFormat(box('styp', Buffer.alloc(8)))).toBe('mp4');
    expect(recognizeFormat(Buffer.alloc(188, 0x47))).toBeUndefined();
  });
});
