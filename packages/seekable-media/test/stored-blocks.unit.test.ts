import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStoredBlocks, storedBytes } from '../src/zip.ts';

const BLOCK = 65_535;
const ALL = Buffer.from(Uint8Array.from({ length: 3 * BLOCK + 100 }, (_, at) => (at * 31 + (at >> 8)) & 255));
const chunks = fc.array(fc.oneof(fc.nat(10), fc.nat(BLOCK), fc.constantFrom(BLOCK - 1, BLOCK, BLOCK + 1)), {
  maxLength: 3,
});

/** Blocks of data that arrive in chunks of these lengths. */
function write(lengths: readonly number[], size: number | undefined) {
  const blocks = createStoredBlocks(size);
  const parts: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    parts.push(blocks.write(ALL.subarray(at, at + length)));
    at += length;
  }
  const bytes = Buffer.concat([...parts, blocks.end()]);
  expect(blocks.bytes).toBe(bytes.length);
  return { bytes, data: ALL.subarray(0, at) };
}

describe('createStoredBlocks', () => {
  it('writes what any reader of DEFLATE reads, in as many bytes as announced, however the data arrive', () => {
    fc.assert(
      fc.property(chunks, (lengths) => {
        const size = lengths.reduce((sum, length) => sum + length, 0);
        const { bytes, data } = write(lengths, size);
        expect(inflateRawSync(bytes).equals(data)).toBe(true);
        expect(bytes.length).toBe(storedBytes(size));
        expect(bytes.equals(write([size], size).bytes)).toBe(true);
      }),
    );
  });

  it('writes data of unknown size, which may end after any chunk', () => {
    fc.assert(
      fc.property(chunks, (lengths) => {
        const { bytes, data } = write(lengths, undefined);
        expect(inflateRawSync(bytes).equals(data)).toBe(true);
      }),
    );
  });

  it.each([10, BLOCK, 2 * BLOCK])('refuses more or less data than a size of %d', (size) => {
    const short = createStoredBlocks(size);
    short.write(ALL.subarray(0, size - 1));
    expect(() => short.end()).toThrow(RangeError);
    expect(() => createStoredBlocks(size).write(ALL.subarray(0, size + 1))).toThrow(RangeError);
  });
});
