import { describe, expect, it } from 'vitest';
import { type Box, box, indexContent, parseBoxes } from '../../src/isobmff/boxes.ts';
import { patchDuration } from '../../src/isobmff/duration-patch.ts';

/** Version and flags, zeroes, and a time scale where version 0 or 1 of mvhd and mdhd has it. */
function timed(type: string, version: 0 | 1, timescale: number): Buffer {
  const content = Buffer.alloc(100);
  content[0] = version;
  content.writeUInt32BE(timescale, version === 0 ? 12 : 20);
  return box(type, content);
}

function tkhd(version: 0 | 1): Buffer {
  const content = Buffer.alloc(84);
  content[0] = version;
  return box('tkhd', content);
}

const moovOf = (version: 0 | 1, ...rest: Buffer[]) =>
  box(
    'moov',
    timed('mvhd', version, 1000),
    box('trak', tkhd(version), box('mdia', timed('mdhd', version, 90_000))),
    box('mvex', box('trex', Buffer.alloc(24))),
    ...rest,
  );

/** A box by its path within `moov`. */
const find = (bytes: Buffer, ...path: string[]): Box =>
  ['moov', ...path].reduce((parent, type) => parent.require(type), indexContent(bytes, 'file'));

const u32 = (bytes: Buffer, field: number, ...path: string[]) =>
  bytes.readUInt32BE(find(bytes, ...path).content + field);
const u64 = (bytes: Buffer, field: number, ...path: string[]) =>
  Number(bytes.readBigUInt64BE(find(bytes, ...path).content + field));

describe('patchDuration', () => {
  it('writes 32-bit durations, each in its own time scale', () => {
    const patched = patchDuration(moovOf(0), 30.5);
    expect(u32(patched, 16, 'mvhd')).toBe(30_500);
    expect(u32(patched, 20, 'trak', 'tkhd')).toBe(30_500);
    expect(u32(patched, 16, 'trak', 'mdia', 'mdhd')).toBe(2_745_000);
    expect(u64(patched, 4, 'mvex', 'mehd')).toBe(30_500);
    // Version 1, of 64 bits.
    expect(u32(patched, 0, 'mvex', 'mehd')).toBe(0x0100_0000);
  });

  it('writes 64-bit durations', () => {
    const patched = patchDuration(moovOf(1), 100_000);
    expect(u64(patched, 24, 'mvhd')).toBe(100_000_000);
    expect(u64(patched, 28, 'trak', 'tkhd')).toBe(100_000_000);
    expect(u64(patched, 24, 'trak', 'mdia', 'mdhd')).toBe(9_000_000_000);
  });

  it('writes an unknown duration that exceeds 32 bits as all ones', () => {
    expect(u32(patchDuration(moovOf(0), 100_000), 16, 'trak', 'mdia', 'mdhd')).toBe(0xffff_ffff);
  });

  it.each([
    ['a long udta', 90, 0],
    ['a udta as long as mehd', 12, 0],
    ['a udta too short for what would be left', 14, 20],
    ['no udta', undefined, 20],
  ])('replaces %s by a free box, or grows by one mehd, once', (_name, bytes, grown) => {
    const moov = moovOf(0, ...(bytes === undefined ? [] : [box('udta', Buffer.alloc(bytes))]));
    const before = Buffer.from(moov);
    const patched = patchDuration(moov, 1);
    expect(patched.length).toBe(moov.length + grown);
    expect(find(patched).end).toBe(patched.length);
    expect(find(patched, 'mvex', 'trex').end).toBe(find(patched, 'mvex').end);
    if (bytes === 90) expect([...parseBoxes(patched, 8)].map(({ type }) => type).at(-1)).toBe('free');
    expect(patchDuration(patched, 1)).toEqual(patched);
    expect(moov, 'its input stays').toEqual(before);
  });

  const whole = moovOf(0, box('udta', Buffer.alloc(90)));
  it('accepts a moov truncated anywhere, and any single damaged byte', () => {
    for (let at = 0; at < whole.length; at += 1) {
      const cut = whole.subarray(0, at);
      expect(patchDuration(cut, 1)).toBe(cut);
      for (const value of [0, 1, 0x7f, 0xff]) {
        const damaged = Buffer.from(whole);
        damaged[at] = value;
        expect(() => patchDuration(damaged, 1)).not.toThrow();
      }
    }
  });
});
