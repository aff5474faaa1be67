import {
  BOX_HEADER_BYTES,
  type Box,
  LARGE_BOX_HEADER_BYTES,
  parseBoxHeader,
  UnsupportedMp4,
} from '../../../../core/media/isobmff/index.ts';
import type { ByteReader } from './byte-reader.ts';

/** A longer `moov` is left to FFmpeg: it stays in memory while its stream runs. Nine hours of video have 12 MB. */
const MAX_MOOV_BYTES = 16 * 1024 * 1024;
/** Four printable characters; QuickTime's own types begin with a copyright sign. */
const BOX_TYPE = /^[\x20-\x7e\xa9]{4}$/;
/** Boxes before `moov`. */
const MAX_BOXES = 64;

/**
 * Reads the header of the top-level box at an offset; the reader is then at the box's content. Undefined at the end of
 * the file.
 * @throws UnsupportedMp4 when it is malformed or reaches beyond the file, and whatever reading throws
 */
export async function readTopLevelBox(reader: ByteReader, start: number): Promise<Box | undefined> {
  const box = await readBox(reader, start);
  return box && requireInside(box, reader);
}

/**
 * The same after the first fragment. Players accept trailing bytes that are no box, and so does this: undefined. A
 * malformed or truncated `moof` or `mdat` is an error.
 * @throws UnsupportedMp4, and whatever reading throws
 */
export async function readNextFragmentBox(reader: ByteReader, start: number): Promise<Box | undefined> {
  const box = await readBox(reader, start);
  if (box?.type === 'moof' || box?.type === 'mdat') return requireInside(box, reader);
  return box && BOX_TYPE.test(box.type) && isInside(box, reader) ? box : undefined;
}

const isInside = ({ content, end }: Box, { size }: ByteReader) => end >= content && end <= size;

function requireInside(box: Box, reader: ByteReader): Box {
  if (!isInside(box, reader)) throw new UnsupportedMp4('A box reaches beyond the file');
  return box;
}

/** Of a malformed box, `end` is before `content`. */
async function readBox(reader: ByteReader, start: number): Promise<Box | undefined> {
  if (start + BOX_HEADER_BYTES > reader.size) return undefined;
  reader.seek(start);
  let bytes = await reader.read(BOX_HEADER_BYTES);
  const isTruncated = parseBoxHeader(bytes).size === undefined;
  if (isTruncated && start + LARGE_BOX_HEADER_BYTES <= reader.size) {
    bytes = Buffer.concat([bytes, await reader.read(LARGE_BOX_HEADER_BYTES - BOX_HEADER_BYTES)]);
  }
  const { type, headerBytes, size = 0 } = parseBoxHeader(bytes);
  return { type, start, content: start + headerBytes, end: Number.isFinite(size) ? start + size : reader.size };
}

export interface HeaderOptions {
  /** A longer `moov` is not read. */
  readonly maxBytes?: number;
  /** Awaited before a `moov` of this many bytes is read into memory. */
  readonly beforeRead?: (bytes: number) => Promise<void> | undefined;
}

/** The `moov` of a file. */
export interface FileHeader {
  /** Its content. */
  readonly moov: Buffer;
  /** Where that content begins in the file. */
  readonly start: number;
  /** Offset of the end of the box. */
  readonly end: number;
}

/**
 * Finds `moov`, before the media or after it.
 * @throws UnsupportedMp4, and whatever reading throws
 */
export async function readFileHeader(
  reader: ByteReader,
  { maxBytes = MAX_MOOV_BYTES, beforeRead }: HeaderOptions = {},
): Promise<FileHeader> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const box = await readTopLevelBox(reader, at);
    if (!box || (count === 0 && box.type !== 'ftyp')) break;
    if (box.type === 'ftyp' && (await isQuickTime(reader, box))) break;
    if (box.type === 'moof') break;
    if (box.type === 'moov') {
      const bytes = box.end - box.content;
      if (bytes > maxBytes) throw new UnsupportedMp4('moov too large');
      await beforeRead?.(bytes);
      return { moov: await reader.read(bytes), start: box.content, end: box.end };
    }
    at = box.end;
  }
  throw new UnsupportedMp4('Not an MP4 with a moov');
}

/** QuickTime has audio sample entries of its own (sound description versions 1 and 2). */
async function isQuickTime(reader: ByteReader, { content, end }: Box): Promise<boolean> {
  if (end - content < 4) throw new UnsupportedMp4('Truncated ftyp');
  return (await reader.read(4)).toString('latin1') === 'qt  ';
}
