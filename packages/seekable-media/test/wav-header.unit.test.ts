import { describe, expect, it } from 'vitest';
import { wavHeader } from '../src/tags/wav-header.ts';

const STEREO = { sampleRate: 48_000, channels: 2, bitsPerSample: 16 };

describe('wavHeader', () => {
  it('writes RIFF with the sizes of everything behind each field', () => {
    const header = wavHeader(192_000, STEREO);
    expect(header).toHaveLength(44);
    expect(header.toString('latin1', 0, 4)).toBe('RIFF');
    expect(header.readUInt32LE(4)).toBe(192_000 + 36);
    expect(header.toString('latin1', 8, 16)).toBe('WAVEfmt ');
    expect([header.readUInt16LE(20), header.readUInt16LE(22), header.readUInt32LE(24)]).toEqual([1, 2, 48_000]);
    expect([header.readUInt32LE(28), header.readUInt16LE(32), header.readUInt16LE(34)]).toEqual([192_000, 4, 16]);
    expect([header.toString('latin1', 36, 40), header.readUInt32LE(40)]).toEqual(['data', 192_000]);
  });

  it.each([
    [2 ** 32 - 1 - 36 - 3, 'RIFF', 44],
    [2 ** 32 - 36, 'RF64', 80],
    [40 * 3600 * 192_000, 'RF64', 80],
  ])('of %d bytes is %s', (bytes, id, length) => {
    const header = wavHeader(bytes, STEREO);
    expect([header.toString('latin1', 0, 4), header.length]).toEqual([id, length]);
    if (id === 'RIFF') return expect(header.readUInt32LE(4)).toBe(bytes + 36);
    expect([header.readUInt32LE(4), header.readUInt32LE(76)]).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(header.readBigUInt64LE(20)).toBe(BigInt(bytes + 72));
    expect(header.readBigUInt64LE(28)).toBe(BigInt(bytes));
    expect(header.readBigUInt64LE(36)).toBe(BigInt(bytes / 4));
  });
});
