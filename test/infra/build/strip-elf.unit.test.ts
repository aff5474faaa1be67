import { describe, expect, it } from 'vitest';
import { stripElf } from '../../../infra/build/strip-elf.ts';

/** Sizes of the header of the file and of a program header (elf(5)). */
const [HEADER_BYTES, PROGRAM_HEADER_BYTES] = [64, 56];

/** A 64-bit little-endian ELF file with these segments, and sections behind them. */
function elfWith(segments: readonly (readonly [offset: number, bytes: number])[], bytes = 4_096): Buffer {
  const file = Buffer.from(Array.from({ length: bytes }, (_, index) => index % 251));
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 0x20);
  file.writeBigUInt64LE(3_000n, 0x28);
  for (const [offset, value] of [
    [0x36, PROGRAM_HEADER_BYTES],
    [0x38, segments.length],
    [0x3a, 64],
    [0x3c, 17],
    [0x3e, 16],
  ] as const)
    file.writeUInt16LE(value, offset);
  for (const [index, [offset, size]] of segments.entries()) {
    const header = HEADER_BYTES + index * PROGRAM_HEADER_BYTES;
    file.writeBigUInt64LE(BigInt(offset), header + 0x08);
    file.writeBigUInt64LE(BigInt(size), header + 0x20);
  }
  return file;
}

describe('stripElf', () => {
  it.each([
    [
      'the last segment',
      [
        [0, 1_000],
        [1_000, 500],
      ],
      1_500,
    ],
    [
      'the segment that reaches furthest',
      [
        [500, 1_500],
        [600, 100],
      ],
      2_000,
    ],
    ['the program headers', [[0, 10]], HEADER_BYTES + PROGRAM_HEADER_BYTES],
  ] as const)('keeps everything up to the end of %s', (_, segments, end) => {
    const file = elfWith(segments);
    const stripped = stripElf(file);
    expect(stripped.length).toBe(end);
    expect(stripped.subarray(HEADER_BYTES).equals(file.subarray(HEADER_BYTES, end))).toBe(true);
  });

  it('names no sections in the header, and changes nothing else of it', () => {
    const file = elfWith([[0, 1_000]]);
    const stripped = stripElf(file);
    expect([stripped.readBigUInt64LE(0x28), stripped.readUInt16LE(0x3c), stripped.readUInt16LE(0x3e)]).toEqual([
      0n,
      0,
      0,
    ]);
    for (const [from, to] of [
      [0, 0x28],
      [0x30, 0x3c],
    ] as const)
      expect(stripped.subarray(from, to).equals(file.subarray(from, to))).toBe(true);
  });

  it('leaves the file that it is given as it is, and a stripped one unchanged', () => {
    const file = elfWith([[0, 1_000]]);
    const before = Buffer.from(file);
    const stripped = stripElf(file);
    expect(file.equals(before)).toBe(true);
    expect(stripElf(stripped).equals(stripped)).toBe(true);
  });

  it.each([
    ['a script', Buffer.from('#!/bin/sh\n')],
    ['a 32-bit program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 1, 1])],
    ['a big-endian program', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 2])],
    ['an empty file', Buffer.alloc(0)],
  ])('rejects %s', (_, file) => expect(() => stripElf(file)).toThrow(/^Not a 64-bit little-endian ELF file$/));
});
