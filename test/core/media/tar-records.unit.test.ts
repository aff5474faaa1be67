import { describe, expect, it } from 'vitest';
import { tarHeader, tarPaddingBytes } from '../../../core/media/tar/tar-records.ts';

const modifiedAt = new Date(Date.UTC(2026, 10, 22));
const sumOf = (block: Buffer) => block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);
const fieldsOf = (block: Buffer) => ({
  path: block.toString('latin1', 0, 100).replace(/\0+$/, ''),
  size: Number.parseInt(block.toString('latin1', 124, 135), 8),
  type: block.toString('latin1', 156, 157),
  checksum: Number.parseInt(block.toString('latin1', 148, 154), 8),
});

describe('tarHeader', () => {
  it('is one block for a short ASCII path and a size up to 8 GiB', () => {
    const header = tarHeader({ path: 'folder/a.mp4', size: 8 * 2 ** 30 - 1, modifiedAt });
    expect(header).toHaveLength(512);
    expect(fieldsOf(header)).toEqual({
      path: 'folder/a.mp4',
      size: 8 * 2 ** 30 - 1,
      type: '0',
      checksum: sumOf(header),
    });
  });

  it.each([
    ['beyond ASCII', 'ünïcode/🎵.mp4'],
    ['of more than 100 bytes', `${'x'.repeat(99)}/a`],
    // The length of the record counts its own digits, of which it gets one more here.
    ...[85, 86, 87, 88, 980, 981, 982, 983, 984, 985].map((length) => [`of ${length} letters é`, 'é'.repeat(length)]),
  ])('has a pax header for a path %s', (_name, path) => {
    const header = tarHeader({ path, size: 3, modifiedAt });
    const pax = fieldsOf(header.subarray(0, 512));
    expect([pax.type, pax.checksum]).toEqual(['x', sumOf(header.subarray(0, 512))]);
    const record = header.subarray(512, 512 + pax.size).toString();
    expect(record).toBe(`${pax.size} path=${path}\n`);
    const own = header.subarray(512 + pax.size + tarPaddingBytes(pax.size));
    expect(own).toHaveLength(512);
    expect(fieldsOf(own)).toMatchObject({ size: 3, type: '0', checksum: sumOf(own) });
  });

  it('has a size of 8 GiB and more as a pax record and as a binary number', () => {
    const size = 3 * 2 ** 40;
    const header = tarHeader({ path: 'a', size, modifiedAt });
    expect(header.subarray(512).toString()).toMatch(new RegExp(`^\\d+ size=${size}\n`));
    expect([header.readUInt8(1024 + 124), Number(header.readBigUInt64BE(1024 + 128))]).toEqual([0x80, size]);
  });
});

describe('tarPaddingBytes', () => {
  it.each([
    [0, 0],
    [1, 511],
    [512, 0],
    [513, 511],
  ])('of %i bytes is %i', (size, padding) => expect(tarPaddingBytes(size)).toBe(padding));
});
