/** A box of the ISO base media file format (ISO/IEC 14496-12 §4.2). Offsets in bytes, `end` excluded. */
export interface Box {
  readonly type: string;
  readonly start: number;
  /** Where its content begins, behind size and type. */
  readonly content: number;
  readonly end: number;
}

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;

/**
 * The boxes that begin between `start` and `end`. The last one may reach beyond `end` when the rest of it has not come
 * yet; behind one that makes no sense there are no more.
 */
export function* parseBoxes(bytes: Buffer, start = 0, end = bytes.length): Generator<Box> {
  const limit = Math.min(end, bytes.length);
  for (let at = start; at + HEADER_BYTES <= limit; ) {
    const box = boxAt(bytes, at, limit);
    if (!box) return;
    yield box;
    at = box.end;
  }
}

/** The first box of a type inside another, whole. */
export function findChild(bytes: Buffer, parent: Box, type: string): Box | undefined {
  for (const box of parseBoxes(bytes, parent.content, parent.end)) {
    if (box.type === type && box.end <= parent.end) return box;
  }
  return undefined;
}

function boxAt(bytes: Buffer, start: number, end: number): Box | undefined {
  const type = bytes.toString('latin1', start + 4, start + HEADER_BYTES);
  const size = bytes.readUInt32BE(start);
  if (size === 0) return { type, start, content: start + HEADER_BYTES, end: Number.POSITIVE_INFINITY };
  if (size >= HEADER_BYTES) return { type, start, content: start + HEADER_BYTES, end: start + size };
  if (size !== 1 || start + LARGE_HEADER_BYTES > end) return undefined;
  const large = Number(bytes.readBigUInt64BE(start + HEADER_BYTES));
  if (large < LARGE_HEADER_BYTES) return undefined;
  return { type, start, content: start + LARGE_HEADER_BYTES, end: start + large };
}
