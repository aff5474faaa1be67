import { describe, expect, it } from 'vitest';
import {
  box,
  fullBox,
  type IndexedBox,
  indexBox,
  indexContent,
  parseBoxes,
  parseBoxHeader,
  UnsupportedMp4,
  u32,
  u64,
} from '../../src/isobmff/boxes.ts';
import { findRandomAccessBytes, parseRandomAccess, parseSegmentIndex } from '../../src/isobmff/segment-index.ts';
import { hasEncryptedSampleEntry } from '../../src/isobmff/track-header.ts';

const header = (size: number, type: string, ...rest: Buffer[]) =>
  Buffer.concat([u32(size), Buffer.from(type, 'latin1'), ...rest]);

describe('parseBoxHeader', () => {
  it.each([
    ['a 32-bit size', header(24, 'ftyp'), { type: 'ftyp', headerBytes: 8, size: 24 }],
    ['size 0: to the end of the file', header(0, 'mdat'), { type: 'mdat', headerBytes: 8, size: Infinity }],
    ['a 64-bit size', header(1, 'mdat', u64(2 ** 33)), { type: 'mdat', headerBytes: 16, size: 2 ** 33 }],
    ['a truncated largesize', header(1, 'mdat', u32(0)), { type: 'mdat', headerBytes: 16, size: undefined }],
    ['a malformed size as it is written', header(7, 'free'), { type: 'free', headerBytes: 8, size: 7 }],
  ])('reads %s', (_name, bytes, expected) => expect(parseBoxHeader(bytes)).toEqual(expected));
});

describe('parseBoxes', () => {
  it.each([
    ['a size below the header', header(7, 'free')],
    ['a largesize below the header', header(1, 'free', u64(15))],
    ['a truncated largesize', header(1, 'free')],
  ])('stops at %s', (_name, malformed) => {
    const bytes = Buffer.concat([box('ftyp'), malformed, box('moov')]);
    const end = box('ftyp').length + malformed.length;
    expect([...parseBoxes(bytes, 0, end)].map(({ type }) => type)).toEqual(['ftyp']);
  });

  it('yields a last box that reaches beyond the bytes', () => {
    expect([...parseBoxes(header(100, 'mdat'))]).toEqual([{ type: 'mdat', start: 0, content: 8, end: 100 }]);
  });
});

describe('parseBoxes of more boxes than a real file has', () => {
  it('throws after some thousand', () => {
    const bytes = Buffer.alloc(8 * 100_000, box('free'));
    let count = 0;
    expect(() => {
      for (const { type } of parseBoxes(bytes)) count += Number(type === 'free');
    }).toThrow(UnsupportedMp4);
    expect(count).toBe(4096);
  });
});

describe('IndexedBox', () => {
  const trak = (kind: string) => box('trak', box('mdia', box(kind, u32(7))), box('free'));
  const movie = () => indexBox(box('moov', trak('vide'), trak('soun'))) ?? expect.fail('No box');

  it('finds children, and parses them once', () => {
    const [first, second] = movie().children;
    expect(second?.require('mdia').require('soun', 4).whole).toEqual(box('soun', u32(7)));
    expect(first?.find('soun')).toBeUndefined();
    expect(first?.children).toBe(first?.children);
    expect(() => first?.require('mdia').require('vide', 5)).toThrow(UnsupportedMp4);
  });

  it('finds no child that reaches beyond its parent', () => {
    const long = Buffer.concat([header(12, 'moov'), header(100, 'trak')]);
    expect(indexContent(long, 'file').find('moov')?.find('trak')).toBeUndefined();
  });

  it('parses children behind fields', () => {
    const stsd = indexBox(fullBox('stsd', 0, 0, u32(1), box('avc1')));
    expect(stsd?.childrenAfter(8).map(({ type }) => type)).toEqual(['avc1']);
  });

  it('throws once its levels together have more boxes than a real file has', () => {
    const bytes = Buffer.concat(Array.from({ length: 20 }, () => box('trak', Buffer.alloc(8 * 1000, box('free')))));
    const visit = (parent: IndexedBox): number =>
      parent.children.reduce((sum, child) => sum + 1 + (child.type === 'trak' ? visit(child) : 0), 0);
    expect(visit(indexContent(bytes.subarray(0, bytes.length / 2), 'moov'))).toBe(10_010);
    expect(() => visit(indexContent(bytes, 'moov'))).toThrow(UnsupportedMp4);
  });
});

describe('parseSegmentIndex', () => {
  const entries = [u32(1000, 90_000, 0x9000_0000), u32(0x8000_0000 + 500, 180_000, 0)];
  const expected = {
    trackId: 1,
    timescale: 90_000,
    earliestPresentationTime: 4500,
    firstOffset: 16,
    entries: [
      { isIndex: false, size: 1000, duration: 90_000, accessPoint: 0x9000_0000 },
      { isIndex: true, size: 500, duration: 180_000, accessPoint: 0 },
    ],
  };
  const versions = {
    0: fullBox('sidx', 0, 0, u32(1, 90_000, 4500, 16), u32(2), ...entries),
    1: fullBox('sidx', 1, 0, u32(1, 90_000), u64(4500), u64(16), u32(2), ...entries),
  };

  it.each([0, 1] as const)('reads version %d', (version) => {
    expect(parseSegmentIndex(versions[version])).toEqual(expected);
  });

  it.each([10, 31, 40])('returns undefined with only %d bytes', (bytes) => {
    expect(parseSegmentIndex(versions[0].subarray(0, bytes))).toBeUndefined();
  });
});

describe('hasEncryptedSampleEntry', () => {
  const stsd = (type: string) => fullBox('stsd', 0, 0, u32(1), box(type, Buffer.alloc(20)));

  it.each(['encv', 'enca'])('finds %s anywhere in the bytes', (type) => {
    expect(hasEncryptedSampleEntry(Buffer.concat([Buffer.alloc(7), stsd('avc1'), stsd(type)]))).toBe(true);
  });

  it.each([
    ['an unencrypted entry', stsd('avc1')],
    ['a truncated box', stsd('encv').subarray(0, 20)],
    ['another version', fullBox('stsd', 1, 0, u32(1), box('encv'))],
  ])('ignores %s', (_name, bytes) => expect(hasEncryptedSampleEntry(bytes)).toBe(false));
});

describe('parseRandomAccess', () => {
  const points = [
    { time: 0, offset: 1000 },
    { time: 90_000, offset: 5000 },
  ];
  const other = fullBox('tfra', 0, 0, u32(1, 0, 1), u32(7, 8), Buffer.from([1, 1, 1]));
  const lists = {
    // Numbers of 1, 2 and 3 bytes; the second entry is of the same fragment.
    0: fullBox(
      ...(['tfra', 0, 0, u32(2, 0b000110, 3)] as const),
      ...[u32(0, 1000), Buffer.alloc(6), u32(40_000, 1000), Buffer.alloc(6), u32(90_000, 5000), Buffer.alloc(6)],
    ),
    1: fullBox(
      ...(['tfra', 1, 0, u32(2, 0, 2)] as const),
      ...[u64(0), u64(1000), Buffer.alloc(3), u64(90_000), u64(5000), Buffer.alloc(3)],
    ),
  };
  const mfraOf = (...content: Buffer[]) => {
    const bytes = content.reduce((sum, { length }) => sum + length, 8 + 16);
    return box('mfra', ...content, fullBox('mfro', 0, 0, u32(bytes)));
  };

  it.each([0, 1] as const)('reads the fragments of a track from version %d', (version) => {
    expect(parseRandomAccess(mfraOf(other, lists[version]), 2)).toEqual(points);
  });

  it('returns undefined for another track, and for a list that does not fit its box', () => {
    expect(parseRandomAccess(mfraOf(other), 2)).toBeUndefined();
    expect(
      parseRandomAccess(mfraOf(fullBox('tfra', 0, 0, u32(2, 0, 4_000_000_000), u32(0, 1000, 0))), 2),
    ).toBeUndefined();
    expect(parseRandomAccess(mfraOf(lists[1]).subarray(0, 60), 2)).toBeUndefined();
  });

  it('finds the size of the box at the end of a file', () => {
    const mfra = mfraOf(lists[1]);
    expect(findRandomAccessBytes(Buffer.concat([Buffer.alloc(9), mfra]))).toBe(mfra.length);
    expect(findRandomAccessBytes(Buffer.alloc(40))).toBeUndefined();
    expect(findRandomAccessBytes(mfra.subarray(-15))).toBeUndefined();
  });
});
