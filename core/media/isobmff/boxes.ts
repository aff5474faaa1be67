/** A box of the ISO base media file format (ISO/IEC 14496-12 §4.2). Offsets in bytes, `end` excluded. */
export interface Box {
  readonly type: string;
  readonly start: number;
  /** Where its content begins, after size and type. */
  readonly content: number;
  readonly end: number;
}

/** The fields before a box's content (§4.2.2). */
export interface BoxHeader {
  /** Four characters, Latin-1. */
  readonly type: string;
  /** 8, or 16 with a `largesize`. */
  readonly headerBytes: number;
  /**
   * Bytes of the box, header included, as written: less than `headerBytes` is malformed. Infinite: it extends to the end
   * of the file (size 0). Undefined: `largesize` lies beyond the bytes given.
   */
  readonly size: number | undefined;
}

/** Bytes of `size` and `type`. */
export const BOX_HEADER_BYTES = 8;
/** Bytes of `size`, `type` and `largesize`. */
export const LARGE_BOX_HEADER_BYTES = 16;

/**
 * Reads the header at `start`, of which at least 8 bytes are there.
 * @param end bytes from there on are not read
 * @throws RangeError when `bytes` holds less than 8 bytes from `start`
 */
export function parseBoxHeader(bytes: Buffer, start = 0, end = bytes.length): BoxHeader {
  const type = bytes.toString('latin1', start + 4, start + BOX_HEADER_BYTES);
  const size = bytes.readUInt32BE(start);
  if (size !== 1) return { type, headerBytes: BOX_HEADER_BYTES, size: size === 0 ? Number.POSITIVE_INFINITY : size };
  const isComplete = start + LARGE_BOX_HEADER_BYTES <= end;
  const largeSize = isComplete ? Number(bytes.readBigUInt64BE(start + BOX_HEADER_BYTES)) : undefined;
  return { type, headerBytes: LARGE_BOX_HEADER_BYTES, size: largeSize };
}

/**
 * The boxes that begin between `start` and `end`. The last one may reach beyond `end` when the bytes are incomplete;
 * parsing stops at a malformed header.
 */
export function* parseBoxes(bytes: Buffer, start = 0, end = bytes.length): Generator<Box> {
  const limit = Math.min(end, bytes.length);
  for (let at = start; at + BOX_HEADER_BYTES <= limit; ) {
    const { type, headerBytes, size } = parseBoxHeader(bytes, at, limit);
    if (size === undefined || size < headerBytes) return;
    yield { type, start: at, content: at + headerBytes, end: at + size };
    at += size;
  }
}

/** The first child of a type that lies inside its parent, and the bytes, as a whole. */
export function findChild(bytes: Buffer, parent: Box, type: string): Box | undefined {
  const limit = Math.min(parent.end, bytes.length);
  for (const box of parseBoxes(bytes, parent.content, limit)) {
    if (box.type === type && box.end <= limit) return box;
  }
  return undefined;
}

/** Flags of a full box (§4.2.2): 24 bits after the version. */
export const flagsOf = (bytes: Buffer, { content }: Box): number => bytes.readUInt32BE(content) & 0xff_ffff;

/** A file outside of what the native muxer supports; FFmpeg may still read it. */
export class UnsupportedMp4 extends Error {
  override readonly name = 'UnsupportedMp4';
}

/**
 * A mandatory child.
 * @param minBytes of its content
 * @throws UnsupportedMp4 when it is absent or shorter
 */
export function requireChild(bytes: Buffer, parent: Box, type: string, minBytes = 0): Box {
  const child = findChild(bytes, parent, type);
  if (!child || child.end - child.content < minBytes) throw new UnsupportedMp4(`Missing or truncated ${type}`);
  return child;
}

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
