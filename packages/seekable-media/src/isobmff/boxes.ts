/** A file outside of what is supported here; FFmpeg may still read it. */
export class UnsupportedMp4 extends Error {
  override readonly name = 'UnsupportedMp4';
}

/** `handler_type` of the tracks that are read (ISO/IEC 14496-12 §8.4.3): video, audio. */
export type HandlerType = 'vide' | 'soun';

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

/** Boxes of one level: the runs of a fragment are the most that a real file has. */
const MAX_SIBLINGS = 4096;

/**
 * The boxes that begin between `start` and `end`. The last one may reach beyond `end` when the bytes are incomplete;
 * parsing stops at a malformed header.
 * @throws UnsupportedMp4 when there are more than any real file has
 */
export function* parseBoxes(bytes: Buffer, start = 0, end = bytes.length): Generator<Box> {
  const limit = Math.min(end, bytes.length);
  let count = 0;
  for (let at = start; at + BOX_HEADER_BYTES <= limit; ) {
    const { type, headerBytes, size } = parseBoxHeader(bytes, at, limit);
    if (size === undefined || size < headerBytes) return;
    count += 1;
    if (count > MAX_SIBLINGS) throw new UnsupportedMp4('Too many boxes');
    yield { type, start: at, content: at + headerBytes, end: at + size };
    at += size;
  }
}

/** Flags of a full box (§4.2.2): 24 bits after the version. */
export const flagsOf = (bytes: Buffer, { content }: Box): number => bytes.readUInt32BE(content) & 0xff_ffff;

/**
 * Finds the `moov` in the first bytes of a file.
 * @returns null when there is none before the media and within `maxBytes`; undefined while more bytes are needed
 */
export function findLeadingMovie(bytes: Buffer, maxBytes: number): Box | null | undefined {
  for (const child of parseBoxes(bytes)) {
    if (child.type === 'moof' || child.type === 'mdat' || child.end > maxBytes) return null;
    if (child.end > bytes.length) return undefined;
    if (child.type === 'moov') return child;
  }
  return bytes.length > maxBytes ? null : undefined;
}

/** Boxes that are read of one movie or fragment. Files with hundreds of tracks have some thousands. */
const MAX_BOXES = 16_384;

/**
 * A box whose children are parsed when they are first needed, and kept. All boxes of one index share a budget: a file may
 * have millions of them.
 */
export class IndexedBox implements Box {
  readonly type: string;
  readonly start: number;
  readonly content: number;
  readonly end: number;
  /** What the offsets count in. */
  readonly bytes: Buffer;
  readonly #budget: { boxes: number };
  /** By the bytes of fields before them. */
  readonly #children = new Map<number, readonly IndexedBox[]>();

  constructor(bytes: Buffer, { type, start, content, end }: Box, budget = { boxes: MAX_BOXES }) {
    this.bytes = bytes;
    this.type = type;
    this.start = start;
    this.content = content;
    this.end = end;
    this.#budget = budget;
  }

  /** The boxes that begin in it; see `parseBoxes`. @throws UnsupportedMp4 when there are too many */
  get children(): readonly IndexedBox[] {
    return this.childrenAfter(0);
  }

  /** The boxes after some bytes of fields. @throws UnsupportedMp4 when there are too many */
  childrenAfter(fieldBytes: number): readonly IndexedBox[] {
    const known = this.#children.get(fieldBytes);
    if (known) return known;
    const children: IndexedBox[] = [];
    for (const child of parseBoxes(this.bytes, this.content + fieldBytes, this.end)) {
      this.#budget.boxes -= 1;
      if (this.#budget.boxes < 0) throw new UnsupportedMp4('Too many boxes');
      children.push(new IndexedBox(this.bytes, child, this.#budget));
    }
    this.#children.set(fieldBytes, children);
    return children;
  }

  /** The first child of a type that lies inside this box, and the bytes, as a whole; or a descendant by its path. */
  find(type: string, ...path: readonly string[]): IndexedBox | undefined {
    const limit = Math.min(this.end, this.bytes.length);
    const child = this.children.find((each) => each.type === type && each.end <= limit);
    const [next, ...rest] = path;
    return next === undefined ? child : child?.find(next, ...rest);
  }

  /**
   * A mandatory child.
   * @param minBytes of its content
   * @throws UnsupportedMp4 when it is absent or shorter
   */
  require(type: string, minBytes = 0): IndexedBox {
    const child = this.find(type);
    if (!child || child.end - child.content < minBytes) throw new UnsupportedMp4(`Missing or truncated ${type}`);
    return child;
  }

  /** The box itself, as a slice. */
  get whole(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}

/** The index of a movie, by the content of its `moov`. */
export const indexMovie = (moov: Buffer): IndexedBox => indexContent(moov, 'moov');

/** The index of a box whose content is given without its header. */
export const indexContent = (bytes: Buffer, type: string): IndexedBox =>
  new IndexedBox(bytes, { type, start: 0, content: 0, end: bytes.length });

/** The index of the box that bytes begin with. */
export function indexBox(bytes: Buffer): IndexedBox | undefined {
  const [first] = parseBoxes(bytes);
  return first && new IndexedBox(bytes, first);
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
export const u32 = (...values: readonly number[]): Buffer => integers(values);

/** As `u32`, for more values than a call can have arguments. */
export function integers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value >>> 0, index * 4);
  });
  return bytes;
}

/** A 64-bit integer, big-endian. */
export function u64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** `dinf`: data in the same file (§8.7.2). */
export const DATA_INFORMATION = box('dinf', fullBox('dref', 0, 0, u32(1), fullBox('url ', 0, 1)));
