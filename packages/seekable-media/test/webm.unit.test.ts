import { describe, expect, it } from 'vitest';
import { UnsupportedMp4 } from '../src/isobmff/index.ts';
import {
  createWebmTable,
  readSegmentSamples,
  readShortSegment,
  type SegmentTable,
  segmentRequest,
  startSecondsOf,
} from '../src/segment-file/index.ts';
import { readBlocks, readWebmFile, type WebmFile } from '../src/webm/index.ts';
import { fragmentOf, samplesIn } from './seeds.ts';
import {
  block,
  cluster,
  cue,
  element,
  KEYFRAME,
  LACING,
  lace,
  number,
  type WebmParts,
  webmFile,
} from './webm-fixture.ts';

const read = (parts: Partial<WebmParts> = {}) => readBytes(webmFile(parts));
const readBytes = (head: Buffer, fileBytes = head.length) => readWebmFile({ head, fileBytes });

const placeOf = (table: SegmentTable, index: number, segment: Buffer): Buffer =>
  fragmentOf(readSegmentSamples(segmentRequest(table, index, [segment])), table.entries[index]?.bytes ?? 0);

function requireFile(file: ReturnType<typeof readWebmFile>): WebmFile {
  if (!('tracks' in file)) throw new Error('The cues are elsewhere');
  return file;
}
const fileOf = (parts?: Partial<WebmParts>) => requireFile(read(parts));
const tableOf = (parts?: Partial<WebmParts>) => createWebmTable(fileOf(parts));

describe('a file of WebM', () => {
  it('is spans from cue to cue, in units of its track', () => {
    const file = fileOf();
    const [first] = file.spans;
    expect(file).toMatchObject({ unitNs: 1_000_000, duration: 3000, tracks: [{ kind: 'vide', number: 1 }] });
    expect(file.spans.map(({ time }) => time)).toEqual([0, 1000, 2000]);
    expect(file.spans.map(({ start }) => start - (first?.start ?? 0))).toEqual(
      [0, 1, 2].map((n) => n * cluster(0).length),
    );
  });

  it('begins earlier by the delay of its audio, and its entries have the times of its cues', () => {
    const table = tableOf({ codec: 'A_OPUS' });
    expect([table.timescale, startSecondsOf(table)]).toEqual([48_000, -312 / 48_000]);
    expect(table.entries.map(({ time }) => time + 312)).toEqual([0, 48_000, 96_000]);
  });

  it('makes a subsegment of exactly the bytes of its table', () => {
    const table = tableOf();
    const subsegment = placeOf(table, 1, cluster(1000));
    expect(subsegment.length).toBe(table.entries[1]?.bytes);
    expect(subsegment.includes('frame 1000')).toBe(true);
  });

  it.each([
    ['the cues of another time', cluster(1001)],
    ['a first frame that is no keyframe', cluster(1000, [block(0, { flags: 0 })])],
    ['nothing', Buffer.alloc(0)],
    ['an element before its cluster', Buffer.concat([element(0xec, Buffer.alloc(4)), cluster(1000)])],
    ['a frame that is cut', cluster(1000).subarray(0, -1)],
    ['frames beyond their block', cluster(1000, [block(0, { flags: KEYFRAME | LACING.ebml })])],
    ['frames of other sizes than one', cluster(1000, [block(0, { flags: KEYFRAME | LACING.fixed })])],
    [
      'an empty frame',
      cluster(1000, [block(0, { flags: KEYFRAME | LACING.xiph, data: Buffer.from('\x02\x01\x00ab') })]),
    ],
    ['an encrypted block', cluster(1000, [block(0), element(0xaf, Buffer.alloc(9))])],
    ['a group without a frame', cluster(1000, [block(0), element(0xa0, number(0x9b, 1))])],
    ['a frame before the time of its cluster', element(0x1f43b675, block(0), number(0xe7, 1000))],
    ['frames that go back', cluster(1000, [block(0), block(40), block(20)])],
    ['a frame of one byte', cluster(1000, [element(0xa3, Buffer.from([0x81]))])],
    ['bytes that are no element', Buffer.concat([cluster(1000), Buffer.alloc(4)])],
    ['a cluster of unknown size', Buffer.concat([Buffer.from('1f43b675ff', 'hex'), cluster(1000)])],
    ['more than its subsegment holds', cluster(1000, [block(0, { data: Buffer.alloc(50_000) })])],
  ])('makes no subsegment of a segment with %s', (_name, segment) => {
    const table = tableOf();
    expect(() => readSegmentSamples(segmentRequest(table, 1, [segment]))).toThrow(UnsupportedMp4);
  });

  it.each([
    ['at once', 'few elements', 9_000, true],
    ['elsewhere', 'many', 10_001, false],
  ])('makes a subsegment %s of a segment of %s', (_, _elements, count, isShort) => {
    const padded = cluster(1000, [block(0), ...new Array(count).fill(element(0xec, Buffer.alloc(0)))]);
    const table = tableOf();
    const request = segmentRequest(table, 1, [padded]);
    expect(readShortSegment(request)).toEqual(isShort ? readSegmentSamples(request) : undefined);
  });

  it('reads frames of groups with what they say', () => {
    const inter = element(0xa0, element(0xa1, block(40).subarray(5)), number(0x9b, 40), number(0xfb, 1));
    const discardable = block(20, { flags: 0x01 });
    const blocks = [...readBlocks(cluster(1000, [block(0), discardable, inter]))];
    expect(blocks.map(({ time, isSync, duration }) => [time, isSync, duration])).toEqual([
      [1000, true, undefined],
      [1020, false, undefined],
      [1040, false, 40],
    ]);
  });

  it.each([
    ['xiph', '02ff0103'],
    ['ebml', '0241005f02'],
    ['fixed', '02'],
  ] as const)('reads the frames of a block with their sizes as of %s', (name, sizes) => {
    const data = Buffer.concat([Buffer.from(sizes, 'hex'), Buffer.alloc(264)]);
    const blocks = [...readBlocks(cluster(1000, [block(0, { flags: KEYFRAME | LACING[name], data })]))];
    const lengths = blocks.flatMap(({ frames }) => frames.map(({ length }) => length));
    expect(lengths).toEqual(name === 'fixed' ? [88, 88, 88] : [256, 3, 5]);
  });

  it('divides the time of a block among its frames, and knows that of the last one by its packets', () => {
    const table = tableOf({ codec: 'A_OPUS' });
    // Packets of 20 ms.
    const data = lace([Buffer.from('\x08a'), Buffer.from('\x08bc')]);
    const laced = (time: number) => block(time, { flags: KEYFRAME | LACING.xiph, data });
    const subsegment = placeOf(table, 1, cluster(1000, [laced(0), laced(41)]));
    expect(samplesIn(subsegment, 1).map(({ duration, size }) => [duration, size])).toEqual([
      [984, 2],
      [984, 3],
      [960, 2],
      [960, 3],
    ]);
  });

  it('has room for the fields of frames that share a block where the first ones do', () => {
    const lacedFile = { frame: lace([Buffer.alloc(1), Buffer.alloc(1)]), flags: KEYFRAME | LACING.xiph };
    const bytesFor = (parts: Partial<WebmParts>) => {
      const file = fileOf({ codec: 'A_OPUS', duration: 10_000, cues: [cue(0, 0)], ...parts });
      // Ten frames of 10 ms in a block, whose durations and sizes differ.
      const data = lace(Array.from({ length: 10 }, (_, index) => Buffer.alloc(1 + (index % 2))));
      const blocks = Array.from({ length: 100 }, (_, index) =>
        block(index * 100 + (index % 2), { flags: KEYFRAME | LACING.xiph, data }),
      );
      const segment = cluster(0, blocks);
      const table = createWebmTable({ ...file, spans: [{ time: 0, start: 0, end: segment.length }] });
      return placeOf(table, 0, segment).length;
    };
    expect(bytesFor(lacedFile)).toBeGreaterThan(10_000);
    for (const parts of [{}, { ...lacedFile, entry: number(0x9c, 0) }])
      expect(() => bytesFor(parts)).toThrow(UnsupportedMp4);
  });

  it('has the rate of sound where no second is made of its units', () => {
    const table = tableOf({ codec: 'A_OPUS', unit: 20_832 });
    expect(table.timescale).toBe(48_000);
    expect(table.entries.map(({ time }) => time + 312)).toEqual([0, 1000, 2000]);
    const subsegment = placeOf(table, 1, cluster(1000));
    expect(subsegment.includes('frame 1000')).toBe(true);
  });

  it('is no subsegment from a cue on that names sound within a cluster', () => {
    const cues = [cue(0, 0, 1, 10), cue(500, 0, 1, 90), cue(1500, 1, 1, 90), cue(2000, 2, 1, 12)];
    const timesOf = (codec: string) => fileOf({ codec, cues }).spans.map(({ time }) => time);
    expect(timesOf('A_OPUS')).toEqual([0, 2000]);
    // Before a picture, there may be sound.
    expect(timesOf('V_VP9')).toEqual([0, 1500, 2000]);
  });

  it('asks for cues behind its media once', () => {
    const bytes = webmFile({ isAtEnd: true });
    const needed = readBytes(bytes.subarray(0, 300), bytes.length);
    expect(needed).toMatchObject({ first: bytes.indexOf(Buffer.from('1c53bb6b', 'hex'), 100), last: bytes.length - 1 });
    const { first } = needed as { first: number };
    const cues = { first, bytes: bytes.subarray(first) };
    expect(
      requireFile(readWebmFile({ head: bytes.subarray(0, 300), fileBytes: bytes.length, cues })).spans,
    ).toHaveLength(3);
  });

  it.each<readonly [string, Partial<WebmParts>]>([
    ['no cues', { cues: [] }],
    ['cues of another track', { cues: [cue(0, 0, 2)] }],
    ['a first cue behind the first cluster', { cues: [cue(1000, 1)] }],
    ['a first cue of another time', { cues: [cue(1, 0), cue(1000, 1)] }],
    ['cues that go back', { cues: [cue(0, 0), cue(2000, 2), cue(2500, 1)] }],
    ['cues of the same time', { cues: [cue(0, 0), cue(0, 1)] }],
    ['a cue beyond the media', { cues: [cue(0, 0), cue(1000, 1000)] }],
    ['a codec that MP4 does not hold', { codec: 'V_VP8' }],
    ['no duration', { duration: 0 }],
    ['units of more than a second', { unit: 1_000_000_001 }],
    ['units of nothing', { unit: 0 }],
    ['encrypted tracks', { entry: element(0x6d80, Buffer.alloc(2)) }],
    ['a delay of hours', { entry: number(0x56aa, 2 ** 45) }],
    ['no size in pixels', { width: 0 }],
    ['a picture that is too wide', { width: 70_000 }],
    ['another document type', { docType: 'other' }],
    ['a first frame that is no keyframe of VP9', { frame: Buffer.alloc(16) }],
  ])('is none with %s', (_name, parts) => {
    expect(() => read(parts)).toThrow(UnsupportedMp4);
  });

  it('is none where any of its bytes is missing', () => {
    const bytes = webmFile({});
    for (let length = 0; length < bytes.length; length += 1)
      expect(() => requireFile(readBytes(bytes.subarray(0, length)))).toThrow();
  });

  it('reads or refuses any change of a byte of its header', () => {
    const bytes = webmFile({});
    for (let at = 0; at < 400; at += 1) {
      for (const value of [0, 0xff, (bytes[at] ?? 0) ^ 0x10]) {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(value, at);
        try {
          const file = readBytes(changed);
          if ('tracks' in file)
            for (const subsegment of file.spans) expect(subsegment.end).toBeLessThanOrEqual(bytes.length);
          else expect(file.last).toBeLessThan(bytes.length);
        } catch (error) {
          expect(error, `${at}: ${value}`).toBeInstanceOf(UnsupportedMp4);
        }
      }
    }
  });
});
