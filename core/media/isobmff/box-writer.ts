import { BOX_HEADER_BYTES } from './box-parser.ts';

/** A box of the ISO base media file format (ISO/IEC 14496-12 §4.2) with its content. */
export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
  return Buffer.concat([boxHeader(type, size), ...content], size);
}

/** `size` and `type`. The size includes these 8 bytes and is at most 2³² − 1. */
export function boxHeader(type: string, size: number): Buffer {
  const header = Buffer.alloc(BOX_HEADER_BYTES);
  header.writeUInt32BE(size, 0);
  header.write(type, 4, 'latin1');
  return header;
}

/** A box with version and flags (§4.2.2). */
export const fullBox = (type: string, version: number, flags: number, ...content: readonly Buffer[]): Buffer =>
  box(type, u32(version * 0x1000000 + flags), ...content);

/** 32-bit integers, big-endian; negative ones in two's complement. */
export function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}

/** A 64-bit integer, big-endian. */
export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
