import { describe, expect, it } from 'vitest';
import { readParameterSets } from '../src/elementary/index.ts';
import {
  allocateSegment,
  box,
  indexContent,
  measureSubsegment,
  packRuns,
  parseSegmentIndex,
  parseTrackHeader,
  recycle,
  type TrackRun,
  UnsupportedMp4,
  u32,
  writeFragmentedMovie,
} from '../src/isobmff/index.ts';
import {
  audioTable,
  createTable,
  type Encoding,
  type ListedSegment,
  MAX_SUBSEGMENT_BYTES,
  MAX_SUBSEGMENTS,
  packTable,
  presentationOf,
  readSegmentSamples,
  readShortSegment,
  recognizeFormat,
  type SegmentRequest,
  type SegmentTable,
  segmentFormat,
  segmentRequest,
  unpackTable,
} from '../src/segment-file/index.ts';
import { createLayout } from '../src/virtual-mp4/index.ts';
import { ADTS_FRAME, fragmentOf, H264_PICTURE, HEVC_PICTURE, samplesIn, tsSegment } from './seeds.ts';

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
      segmentBytes: 1000 + index,
      seconds: 2,
      gapSeconds: 0,
      isDiscontinuity: false,
      ...more,
      facts: { encoding, mainKind: 'vide', startTime, earliestTime: startTime, startsWithSync: true, maxBytes: 990 },
    };
  });

/** A segment, and that of the next period. @param seconds that the first is listed with @param clock of the second */
const twoPeriods = (seconds: number, clock: number): ListedSegment[] => [
  ...listed([5], { seconds }).map((each) => ({
    ...each,
    facts: { ...each.facts, endTime: 7 * 12_800, movedBytes: 40 },
  })),
  ...listed([clock], { isDiscontinuity: true, isTimedByList: true }),
];

/** Segments of packed audio, which tell no time. */
const untimed = (count: number, seconds = 2.0001): ListedSegment[] =>
  listed(Array.from({ length: count }, () => 0)).map(({ facts, ...segment }) => ({
    ...segment,
    seconds,
    facts: { ...facts, startTime: undefined },
  }));

/** For the subsegment of a segment that is all of its list. @param parts of the segment */
function onePlace(
  format: Parameters<typeof createTable>[0],
  facts: ListedSegment['facts'] | { readonly neededBytes: number },
  ...parts: readonly Buffer[]
) {
  if ('neededBytes' in facts) throw new TypeError('A whole segment');
  const segmentBytes = Buffer.concat(parts).length;
  const subsegment = { facts, segmentBytes, seconds: 2, gapSeconds: 0, isDiscontinuity: false };
  return segmentRequest(createTable(format, [subsegment]), 0, parts);
}

const writeSubsegment = (runs: readonly TrackRun[]): Buffer =>
  fragmentOf(packRuns(runs, Buffer.alloc(0)), measureSubsegment(runs));
const placeOf = (request: SegmentRequest): Buffer => fragmentOf(readSegmentSamples(request), request.bytes);

/** `ftyp`, `moov` and `sidx` of its file. */
function headerOf(table: SegmentTable): Buffer {
  const { own, mediaStart } = createLayout([{ table }]);
  return own.subarray(0, mediaStart);
}

const secondsOf = (segments: readonly ListedSegment[]) => {
  const { entries, timescale } = createTable('mp4', segments);
  return entries.map(({ time }) => time / timescale);
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
    ['begins a period where its list says', twoPeriods(2.5, 0), [5, 7.5]],
    ['begins it before the end of media that is a little longer', twoPeriods(1.95, 0), [5, 6.95]],
    ['begins it behind media that is much longer', twoPeriods(1.5, 0), [5, 7]],
    ['begins it where the one before ends, if its clock goes on', twoPeriods(1.9, 7), [5, 7]],
    ['goes on behind segments without a time', [...listed([5]), ...untimed(2), ...listed([11])], [5, 7, 9, 11]],
    ['goes on where no segment has a time', untimed(3, 0.4), [0, 0.4, 0.8]],
  ])('%s', (_, segments, expected) => {
    for (const [index, seconds] of secondsOf(segments).entries()) expect(seconds).toBeCloseTo(expected[index] ?? 0, 3);
  });

  it('has room for samples that are decoded before the next period begins', () => {
    const bytesOf = (seconds: number) => createTable('mp4', twoPeriods(seconds, 0)).entries.map(({ bytes }) => bytes);
    expect([bytesOf(2), bytesOf(1.95)]).toEqual([
      [1030, 990],
      [1070, 990],
    ]);
  });

  it('has whole times where the period of its clock is no whole number of units', () => {
    const { entries } = createTable('packed', listed([95_443, 1.3], {}, encodingOf(12_800)));
    const [first = 0, second = 0] = entries.map(({ time }) => time);
    expect([Number.isInteger(second), (second - first) / 12_800]).toEqual([true, expect.closeTo(2.018, 3)]);
  });

  it('is refused for segments with neither times nor exact durations', () =>
    expect(() => createTable('mp4', untimed(3, 1), true)).toThrow(UnsupportedMp4));

  it('is the same when it has been stored, in some bytes a segment', () => {
    const times = Array.from({ length: 1000 }, (_, index) => 7 + index * 2 + (index % 3) / 25);
    const segments = [...listed(times), ...listed([0, 2], { isDiscontinuity: true }, encodingOf(25_600, 48_000))];
    const table = createTable('mp4', segments);
    expect(table.encodings.length).toBe(2);
    const packed = packTable(table);
    expect(unpackTable(packed)).toEqual(table);
    expect(packed.length).toBeLessThan(2000 + 10 * 1000);
  });

  it('has the sizes of its audio alone where each segment tells them', () => {
    const segments = listed([5, 7]);
    expect(audioTable(createTable('mp4', segments))).toBeUndefined();
    const sized = segments.map(({ facts, ...more }) => ({ ...more, facts: { ...facts, audioBytes: 300 } }));
    const table = createTable('mp4', sized);
    expect(unpackTable(packTable(table))).toEqual(table);
    expect(audioTable(table)).toMatchObject({ kinds: ['soun'], entries: [{ bytes: 300 }, { bytes: 300 }] });
  });

  it.each([
    ['no segments', []],
    [
      'more segments than an index has entries',
      listed(Array.from({ length: MAX_SUBSEGMENTS + 1 }, (_, index) => index)),
    ],
    ['time scales without a common one', listed([0], {}, encodingOf(10_000_019, 48_000))],
    [
      'a segment that is too large to keep in memory',
      listed([0]).map((each) => ({ ...each, facts: { ...each.facts, maxBytes: MAX_SUBSEGMENT_BYTES + 1 } })),
    ],
    [
      'too many encodings',
      Array.from({ length: 65 }, (_, index) => listed([0], { isDiscontinuity: true }, encodingOf(1000 + index))).flat(),
    ],
  ])('is refused for %s', (_, segments) => expect(() => createTable('mp4', segments)).toThrow(UnsupportedMp4));
});

describe('the header of a file', () => {
  it('has one index of decode times, which begins when the first sample is shown', () => {
    const { size, own, mediaStart } = createLayout([{ table: createTable('mp4', listed([10, 12, 14])) }]);
    const index = parseSegmentIndex(own.subarray(own.indexOf('sidx') - 4, mediaStart));
    expect(index).toMatchObject({ timescale: 192_000, earliestPresentationTime: 0, firstOffset: 0 });
    const entries = index?.entries.map(({ size, duration }) => [size >= 990, duration]);
    expect(entries).toEqual(new Array(3).fill([true, 384_000]));
    expect(index?.entries.reduce((sum, each) => sum + each.size, mediaStart)).toBe(size);
    expect(own.includes('edts')).toBe(false);
  });
});

describe('segments of fragmented MP4', () => {
  const head = (bytes: Buffer, isWhole = false) => ({
    bytes,
    isWhole,
    size: 100_000,
    init: undefined,
    encoding: undefined,
  });
  const inspectWhole = (bytes: Buffer, init: Buffer) =>
    segmentFormat('mp4').inspect({ ...head(bytes, true), size: bytes.length, init });
  const sampleOf = (duration: number, size: number) => ({ duration, size, compositionOffset: 0, isSync: true });

  it.each([
    ['no boxes', Buffer.alloc(64), true],
    ['no moov', box('moof', Buffer.alloc(64)), true],
    ['a moof that is cut', box('moof', Buffer.alloc(64)).subarray(0, 40), true],
    ['a moof that is too large', Buffer.concat([u32(0x7fff_ffff), Buffer.from('moof'), Buffer.alloc(64)]), false],
  ])('are refused with %s', (_, bytes, isWhole) =>
    expect(() => segmentFormat('mp4').inspect(head(bytes, isWhole))).toThrow(UnsupportedMp4),
  );

  it.each([
    ['that is a little larger', 1.2, true],
    ['that is much larger, whose bytes nothing counts', 1.5, false],
  ])('are read into the memory of one %s', (_, factor, isReused) => {
    const segment = allocateSegment(factor * 100_000);
    recycle(packRuns([], segment));
    expect(segment.length).toBe(0);
    const next = allocateSegment(100_000);
    expect(next.buffer.byteLength > next.length).toBe(isReused);
  });

  it('begin when their first sample is shown, with the delay of an edit list', () => {
    const table = createTable('mp4', listed([0], {}, encodingOf(12_800)));
    const movie = indexContent(headerOf(table), 'file').require('moov');
    const header = { ...parseTrackHeader(movie, 'vide'), edits: [{ duration: 0, mediaTime: 1024n, rate: 0x1_0000 }] };
    const init = writeFragmentedMovie([{ header, durationSeconds: 0 }]);
    const sample = { ...sampleOf(512, 100), compositionOffset: 1024 };
    const run = { trackId: 1, decodeTime: 0, description: 1, samples: [sample, sample], data: [Buffer.alloc(200)] };
    const bytes = writeSubsegment([run]);
    expect(inspectWhole(bytes, init)).toMatchObject({ startTime: 0, endTime: 1024, startsWithSync: true });
  });

  /** For the subsegment of one segment. */
  const requestOf = (segment: Buffer) =>
    onePlace('mp4', inspectWhole(segment, headerOf(createTable('mp4', listed([0])))), segment);

  it.each([
    ['with the first picture where it is heard within a sample after it', 300, [0, 300]],
    ['when it is heard where that is later', 4096, [4096, 0]],
  ])('have sound that is decoded %s', (_, late, [decodeTime, compositionOffset]) => {
    const sample = sampleOf(4096, 100);
    const run = { description: 1, samples: [sample, sample], data: [Buffer.alloc(200)] };
    const runs = [
      { ...run, trackId: 1, decodeTime: 0 },
      { ...run, trackId: 2, decodeTime: late },
    ];
    const segment = writeSubsegment(runs);
    expect(samplesIn(placeOf(requestOf(segment)), 2)).toMatchObject([
      { decodeTime, compositionOffset },
      { decodeTime: (decodeTime ?? 0) + 4096, compositionOffset },
    ]);
  });

  it.each([
    ['at once where they have few samples, however large', 100, 60_000, true],
    ['elsewhere where they have many', 10_001, 1, false],
  ])('become a subsegment %s', (_, count, size, isShort) => {
    const samples = new Array(count).fill(sampleOf(40, size));
    const runs = [{ trackId: 1, decodeTime: 0, description: 1, samples, data: [Buffer.alloc(count * size)] }];
    const segment = writeSubsegment(runs);
    const request = requestOf(segment);
    expect(readShortSegment(request)).toEqual(isShort ? readSegmentSamples(request) : undefined);
  });

  const unit = (hex: string) => Buffer.concat([u32(hex.length / 2), Buffer.from(hex, 'hex')]);

  it.each([
    ['of H.264 in one fragment', 'avcC', 1, [27, H264_PICTURE, '0900'], 2, 8],
    ['of H.264 in several fragments', 'avcC', 3, [27, H264_PICTURE, '0900'], 2, 8],
    ['of HEVC', 'hvcC', 1, [36, HEVC_PICTURE, '4600'], 3, 25],
  ] as const)(
    'have parameter sets in access points where there are several encodings: %s',
    (_, configuration, fragments, [type, picture, delimiter], setCount, lengthAt) => {
      const sets = picture.split(/(?:00)?000001/).slice(1, 1 + setCount);
      const data = [unit(delimiter), unit('01020304')];
      const plain = Buffer.concat(data);
      const size = plain.length;
      const samples = [true, false, true].map((isSync) => ({ ...sampleOf(512, size), isSync }));
      const segment = Buffer.concat(
        Array.from({ length: fragments }, (_, index) => {
          const at = { trackId: 1, decodeTime: index * 1536, description: 1 };
          const run = { ...at, samples, data: samples.flatMap(() => data) };
          return writeSubsegment([run]);
        }),
      );
      const bytes = tsSegment(type, picture);
      const found = segmentFormat('mpegts').inspect({ ...head(bytes, true), size: bytes.length });
      const [track] = 'encoding' in found ? found.encoding.tracks : [];
      /** A segment of an encoding whose configuration has another byte. */
      const listedWith = (at: number, change: number): ListedSegment => {
        const sampleEntry = Buffer.from(track?.sampleEntry ?? '');
        const byteAt = sampleEntry.indexOf(configuration) + at;
        sampleEntry.writeUInt8(sampleEntry.readUInt8(byteAt) ^ change, byteAt);
        const encoding = { state: Buffer.alloc(0), tracks: track ? [{ ...track, sampleEntry }] : [] };
        const init = headerOf(createTable('mp4', listed([0], {}, encoding)));
        const facts = inspectWhole(segment, init);
        if ('neededBytes' in facts) throw new TypeError('A whole segment');
        return { facts, segmentBytes: segment.length, seconds: 2, gapSeconds: 0, isDiscontinuity: true };
      };
      const whole = track?.sampleEntry ?? Buffer.alloc(0);
      for (let end = 0; end < whole.length; end += 1)
        expect(readParameterSets(whole.subarray(0, end)), `${end} bytes`).toBeUndefined();
      const sent = (segments: readonly ListedSegment[], index: number) => {
        const subsegment = placeOf(segmentRequest(createTable('mp4', segments), index, [segment]));
        return samplesIn(subsegment, 1).map(({ offset, size }) => subsegment.toString('hex', offset, offset + size));
      };
      const times = (...all: readonly Buffer[]) =>
        Array.from({ length: fragments }, () => all.map((sample) => sample.toString('hex'))).flat();
      const withSets = Buffer.concat([unit(delimiter), ...sets.map(unit), unit('01020304')]);
      const [one, other] = [listedWith(6, 0), listedWith(6, 1)];
      for (const index of [0, 1]) expect(sent([one, other], index)).toEqual(times(withSets, plain, withSets));
      expect(sent([one], 0)).toEqual(times(plain, plain, plain));
      // Where units of one encoding have lengths of two bytes, sets would not help.
      expect(sent([one, listedWith(lengthAt, 2)], 0)).toEqual(times(plain, plain, plain));
    },
  );

  it('are read on until their first fragment is there', () => {
    const moof = Buffer.concat([u32(5000), Buffer.from('moof'), Buffer.alloc(64)]);
    expect(segmentFormat('mp4').inspect(head(moof))).toEqual({ neededBytes: 5016 });
    const sidx = box('sidx', Buffer.alloc(92));
    expect(segmentFormat('mp4').inspect(head(sidx.subarray(0, 50)))).toEqual({ neededBytes: 100 + 1024 });
  });

  it('are told from other formats by their first box', () => {
    expect(recognizeFormat(box('styp', Buffer.alloc(8)))).toBe('mp4');
    expect(recognizeFormat(tsSegment(27))).toBe('mpegts');
    expect(recognizeFormat(Buffer.concat([Buffer.alloc(188, 0x47), Buffer.alloc(188)]))).toBeUndefined();
    expect(recognizeFormat(Buffer.from('ID3\x04\0\0\0\0\0\0'))).toBe('packed');
    expect(recognizeFormat(Buffer.from(`${ADTS_FRAME}000000`, 'hex'))).toBe('packed');
    expect(recognizeFormat(Buffer.from('<!doctype html>'))).toBeUndefined();
  });
});

describe('segments of MPEG-TS and packed audio', () => {
  const inspect = (bytes: Buffer, isWhole = true) =>
    segmentFormat(recognizeFormat(bytes) ?? 'mpegts').inspect({
      bytes,
      isWhole,
      size: bytes.length,
      init: undefined,
      encoding: undefined,
    });
  const read = (...parts: readonly Buffer[]) => {
    const bytes = Buffer.concat(parts);
    return placeOf(onePlace('mpegts', inspect(bytes), ...parts));
  };
  const [tables, picture] = [tsSegment(27), tsSegment(27, H264_PICTURE).subarray(-188)];
  const patched = (at: number, ...values: readonly number[]) => {
    const segment = tsSegment(27, H264_PICTURE, H264_PICTURE);
    segment.set(values, at);
    return segment;
  };

  it.each([
    ['pictures', tsSegment(27, H264_PICTURE, H264_PICTURE), 'avcC'],
    ['pictures of HEVC', tsSegment(36, HEVC_PICTURE, HEVC_PICTURE), 'hvcC'],
    ['frames of audio', tsSegment(15, ADTS_FRAME, ADTS_FRAME), 'esds'],
    ['a last packet that is cut', tsSegment(27, H264_PICTURE, H264_PICTURE).subarray(0, -100), 'avcC'],
    ['a last frame that is cut', tsSegment(15, ADTS_FRAME, 'fff14c80fffffc'), 'esds'],
  ])('are read with %s', (_, segment, configuration) => {
    const facts = inspect(segment);
    expect('encoding' in facts && facts.encoding.tracks[0]?.sampleEntry.includes(configuration)).toBe(true);
    expect(read(segment).length).toBe(segment.length + 512);
  });

  it.each([
    ['wrong sync bytes', patched(188 * 3, 0)],
    ['a stream of LATM', tsSegment(17, ADTS_FRAME)],
    ['a stream of SAMPLE-AES', tsSegment(0xdb, H264_PICTURE)],
    ['MPEG-2 video', tsSegment(2, '000001b3')],
    ['scrambled packets', patched(188 * 2 + 3, 0xd0)],
    ['media before the tables', Buffer.concat([picture, tables, picture])],
    ['no tables', Buffer.concat([picture, picture])],
    ['tables alone', tables],
    ['a PES header without end', patched(188 * 2 + 4 + 8, 0xff)],
    ['pictures without a time', patched(188 * 2 + 4 + 7, 0)],
    ['two pictures at one time', tsSegment(27, H264_PICTURE, `${H264_PICTURE}${H264_PICTURE}`)],
    ['several clocks', patched(188 * 3 + 4 + 9, 0x2f)],
    ['another size of its pictures', tsSegment(27, H264_PICTURE, '000000016742c00ad9047f89'.padEnd(60, '0'))],
    ['a frame of no bytes', tsSegment(15, 'fff14c8000000000')],
    ['a frame shorter than its header', tsSegment(15, ADTS_FRAME, `fff04c80011ffc00${ADTS_FRAME}`)],
    ['noise in place of frames', tsSegment(15, ADTS_FRAME, 'ffffffffff')],
  ])('are refused with %s', (_, segment) => expect(() => read(segment)).toThrow(UnsupportedMp4));

  it('become the same subsegment in any parts, which stay as they are', () => {
    const segment = tsSegment(27, H264_PICTURE, H264_PICTURE);
    const before = Buffer.from(segment);
    const subsegment = read(segment);
    expect(read(segment.subarray(0, 200), segment.subarray(200)).equals(subsegment)).toBe(true);
    expect(segment.equals(before)).toBe(true);
  });

  it.each([
    ['at once where they have few frames', 100, true],
    ['elsewhere where they have many', 10_002, false],
  ])('become a subsegment %s', (_, frames, isShort) => {
    const segment = Buffer.alloc(frames * 9, Buffer.from('fff14c80013ffc0000', 'hex'));
    const request = onePlace('packed', inspect(segment), segment);
    expect(readShortSegment(request)).toEqual(isShort ? readSegmentSamples(request) : undefined);
  });

  it.each([
    [0.2, true],
    [2, false],
    [2 ** 33 / 90_000, true],
  ])(
    'begin within 0.25 s of the time that the table says, by a clock that begins again: %f s later',
    (seconds, isSame) => {
      const segment = tsSegment(27, H264_PICTURE, H264_PICTURE);
      const request = onePlace('mpegts', inspect(segment), segment);
      const later = { ...request, sourceTime: (request.sourceTime ?? Number.NaN) + seconds * request.timescale };
      if (isSame) expect(placeOf(later).equals(placeOf(request))).toBe(true);
      else expect(() => readSegmentSamples(later)).toThrow('begins at another time');
    },
  );

  it('are read on until their first picture is there', () => {
    expect(inspect(tables, false)).toEqual({ neededBytes: tables.length * 4 });
  });
});
