import { UnsupportedMp4 } from '../isobmff/index.ts';

/** Longer Exp-Golomb codes do not fit 32 bits. */
const MAX_ZEROS = 31;

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
      if (zeros > MAX_ZEROS) throw new UnsupportedMp4('Invalid field of a bitstream');
    }
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** `se(v)`. */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 1 ? (code + 1) / 2 : -code / 2;
  }
}
