import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  centralDirectory,
  dataDescriptor,
  localHeader,
  storedBytes,
  type WrittenZipEntry,
  type ZipEntry,
  zipBytes,
} from '../src/zip.ts';

const GIB = 2 ** 30;
const modifiedAt = new Date(Date.UTC(2026, 10, 22, 13, 30, 59));
const entryOf = (size: number | undefined, path = 'a/file.mp4'): ZipEntry => ({ path, size, modifiedAt });

/** The offset of each record of an archive whose data is not written. */
function layOut(entries: readonly (ZipEntry & { size: number })[]) {
  let offset = 0;
  const written = entries.map((entry): WrittenZipEntry => {
    const at = offset;
    const data = { entry, size: entry.size, compressedSize: storedBytes(entry.size), crc32: 7 };
    offset += localHeader(entry).length + data.compressedSize + dataDescriptor(data).length;
    return { ...data, offset: at };
  });
  return { written, directoryOffset: offset, directory: centralDirectory(written, offset) };
}

/** The largest size whose blocks take no more than 32 bits can state. */
function largestOf32Bits(): number {
  let size = 0xffffffff;
  while (storedBytes(size) > 0xffffffff) size -= 1;
  return size;
}

describe('zipBytes', () => {
  it('is the sum of all records, for any number and size of entries', () => {
    const size = fc.oneof(fc.nat(1000), fc.integer({ min: 0xfffffff0, max: 0x100000010 }), fc.nat(2 ** 40));
    const entry = fc.record({ size, path: fc.string({ unit: 'grapheme', maxLength: 80 }) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (parts) => {
        const entries = parts.map((part) => ({ ...entryOf(part.size, part.path), size: part.size }));
        const { directoryOffset, directory } = layOut(entries);
        expect(zipBytes(entries)).toBe(directoryOffset + directory.length);
      }),
    );
  });

  it('counts 70,000 entries', () => {
    const entries = Array.from({ length: 70_000 }, (_, index) => ({ ...entryOf(index, `${index}`), size: index }));
    const { directoryOffset, directory } = layOut(entries);
    expect(zipBytes(entries)).toBe(directoryOffset + directory.length);
    // ZIP64: the count has 64 bits, and the end of the central directory refers to it.
    expect(directory.readBigUInt64LE(directory.length - 22 - 20 - 56 + 32)).toBe(70_000n);
    expect(directory.readUInt16LE(directory.length - 12)).toBe(0xffff);
  });
});

describe('a local header', () => {
  it('announces sizes of 64 bits behind blocks of more than 4 GiB, and they have them whenever they need them', () => {
    const most = largestOf32Bits();
    const layouts = [
      [most, most],
      [most + 1, most + 1],
      [undefined, 5],
      [undefined, most + 1],
    ].map(([announced, size = 0]) => {
      const entry = entryOf(announced);
      const header = localHeader(entry);
      const written = { entry, size, compressedSize: storedBytes(size), crc32: 1 };
      return [header.readUInt16LE(4), header.readUInt16LE(28), dataDescriptor(written).length];
    });
    expect(layouts).toEqual([
      [20, 0, 16],
      [45, 20, 24],
      [20, 0, 16],
      [20, 0, 24],
    ]);
  });

  it('has the path in UTF-8, the date, and DEFLATE as method', () => {
    const header = localHeader(entryOf(1, 'ä'));
    expect([header.readUInt16LE(6), header.readUInt16LE(8), header.subarray(30).toString()]).toEqual([0x0808, 8, 'ä']);
    const [time, date] = [header.readUInt16LE(10), header.readUInt16LE(12)];
    expect([time >> 11, (time >> 5) & 63, (time & 31) * 2]).toEqual([13, 30, 58]);
    expect([(date >> 9) + 1980, (date >> 5) & 15, date & 31]).toEqual([2026, 11, 22]);
  });

  it.each([1969, 2200])('has a date within the range of ZIP for the year %i', (year) => {
    const date = localHeader({ ...entryOf(1), modifiedAt: new Date(Date.UTC(year, 0, 1)) }).readUInt16LE(12);
    expect((date >> 9) + 1980).toBe(year < 1980 ? 1980 : 2107);
  });
});

describe('the central directory', () => {
  it('has 64-bit fields for what 32 bits cannot hold, and only for that', () => {
    const entries = [3 * GIB, 5 * GIB, 10].map((size) => ({ ...entryOf(size, 'p'), size }));
    const { written, directory } = layOut(entries);
    const extras = [];
    let at = 0;
    for (const each of written) {
      const [path, extra] = [directory.readUInt16LE(at + 28), directory.readUInt16LE(at + 30)];
      const values = [];
      for (let value = at + 46 + path + 4; value < at + 46 + path + extra; value += 8)
        values.push(Number(directory.readBigUInt64LE(value)));
      extras.push(values);
      at += 46 + path + extra;
      expect(each.offset).toBeGreaterThanOrEqual(0);
    }
    expect(extras).toEqual([[], [5 * GIB, storedBytes(5 * GIB)], [written[2]?.offset]]);
    expect(directory.readUInt32LE(at)).toBe(0x06064b50);
  });
});
