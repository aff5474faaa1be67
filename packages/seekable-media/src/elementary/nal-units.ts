import { UnsupportedMp4 } from '../isobmff/index.ts';

const START_CODE = Buffer.from([0, 0, 1]);
/** Slices, parameter sets and messages of one picture. */
const MAX_UNITS = 10_000;
/** In front of a unit, with those of its start code. */
const MAX_ZEROS = 7;
/** Headers are read of no more of a unit. */
const MAX_HEADER_BYTES = 4096;

/** Whether bytes begin with a start code, which zeros may precede. */
export function startsUnit(bytes: Buffer): boolean {
  let zeros = 0;
  while (zeros <= MAX_ZEROS && bytes[zeros] === 0) zeros += 1;
  return zeros >= 2 && zeros <= MAX_ZEROS && bytes[zeros] === 1;
}

/** The NAL units of a picture in Annex B, without their start codes of three or four bytes. */
export function splitUnits(picture: Buffer): readonly Buffer[] {
  const units: Buffer[] = [];
  for (let start = picture.indexOf(START_CODE); start >= 0; ) {
    const first = start + START_CODE.length;
    const next = picture.indexOf(START_CODE, first);
    const isLong = next > first && picture[next - 1] === 0;
    const end = next < 0 ? picture.length : isLong ? next - 1 : next;
    if (end > first) units.push(picture.subarray(first, end));
    if (units.length > MAX_UNITS) throw new UnsupportedMp4('Too many units in a picture');
    start = next;
  }
  return units;
}

/** The first bytes of a unit without emulation prevention bytes. */
export function unescapeUnit(unit: Buffer): Buffer {
  const source = unit.subarray(0, MAX_HEADER_BYTES);
  const target = Buffer.allocUnsafe(source.length);
  let length = 0;
  let zeros = 0;
  for (let at = 0; at < source.length; at += 1) {
    const byte = source[at] ?? 0;
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    target[length] = byte;
    length += 1;
  }
  return target.subarray(0, length);
}

/** Longer Exp-Golomb codes do not fit 32 bits. */
const MAX_CODE_ZEROS = 31;

/** Reads bits, the highest first. @throws UnsupportedMp4 beyond the end */
export class BitReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bit(): number {
    const byte = this.#bytes[this.#at >> 3];
    if (byte === undefined) throw new UnsupportedMp4('Truncated fields of a bitstream');
    const bit = (byte >> (7 - (this.#at & 7))) & 1;
    this.#at += 1;
    return bit;
  }

  /** @param count at most 32 */
  bits(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) value = value * 2 + this.bit();
    return value;
  }

  discard(count: number): void {
    this.#at += count;
  }

  /** `ue(v)` of H.264 and HEVC. */
  unsigned(): number {
    let zeros = 0;
    while (this.bit() === 0) {
      zeros += 1;
      if (zeros > MAX_CODE_ZEROS) throw new UnsupportedMp4('Invalid field of a bitstream');
    }
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** `se(v)`. */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}
