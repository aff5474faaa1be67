import {
  BOX_HEADER_BYTES,
  type Box,
  LARGE_BOX_HEADER_BYTES,
  parseBoxHeader,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import type { FragmentEntry } from '../virtual-mp4/index.ts';
import type { ByteReader } from './byte-reader.ts';

/** A box of a file, whose content has not been read. */
export interface FileBox extends Box {
  /** The bytes before its content. */
  readonly header: Buffer;
}

/** What boxes are read from. */
export type BoxReader = Pick<ByteReader, 'size' | 'seek' | 'read'>;

/** A larger `moof` is refused: it is read into memory. */
const MAX_MOOF_BYTES = 4 * 1024 * 1024;
/** Boxes of media segments (ISO/IEC 14496-12 §8.16, ISO/IEC 23009-1). */
const FRAGMENT_BOXES = new Set(['styp', 'sidx', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid', 'moof', 'mdat']);
/** Four printable characters; QuickTime's own types begin with a copyright sign. */
const BOX_TYPE = /^[\x20-\x7e\xa9]{4}$/;
/** Boxes before `moov`. */
const MAX_BOXES = 64;

/**
 * Reads the header of the box at an offset; the reader is then at the box's content.
 * @param limit where the box has to end
 * @returns its `end` as written: before `content` when it is malformed, infinite when it extends to the end of the file.
 *   Undefined when there is no room for a header.
 */
async function readBox(reader: BoxReader, start: number, limit = reader.size): Promise<FileBox | undefined> {
  if (start + BOX_HEADER_BYTES > limit) return undefined;
  reader.seek(start);
  let header = await reader.read(BOX_HEADER_BYTES);
  if (parseBoxHeader(header).size === undefined && start + LARGE_BOX_HEADER_BYTES <= limit) {
    header = Buffer.concat([header, await reader.read(LARGE_BOX_HEADER_BYTES - BOX_HEADER_BYTES)]);
  }
  const { type, headerBytes, size = 0 } = parseBoxHeader(header);
  return { type, start, content: start + headerBytes, end: start + size, header };
}

const isInside = ({ content, end }: Box, limit: number) => end >= content && end <= limit;

/** As `readBox`, with the `end` that a box has which extends to the end of the file. */
async function readFileBox(reader: BoxReader, start: number): Promise<FileBox | undefined> {
  const box = await readBox(reader, start);
  return box && { ...box, end: box.end === Number.POSITIVE_INFINITY ? reader.size : box.end };
}

/**
 * Reads the header of the top-level box at an offset; the reader is then at the box's content. Undefined at the end of
 * the file.
 * @throws UnsupportedMp4 when it is malformed or reaches beyond the file
 */
export async function readTopLevelBox(reader: BoxReader, start: number): Promise<FileBox | undefined> {
  const box = await readFileBox(reader, start);
  if (box && !isInside(box, reader.size)) throw new UnsupportedMp4('A box reaches beyond the file');
  return box;
}

/**
 * The same after the first fragment. Players accept trailing bytes that are no box, and so does this: undefined. A
 * malformed or truncated `moof` or `mdat` is an error.
 * @throws UnsupportedMp4
 */
export async function readNextFragmentBox(reader: BoxReader, start: number): Promise<FileBox | undefined> {
  const box = await readFileBox(reader, start);
  if (!box || isInside(box, reader.size)) return box && BOX_TYPE.test(box.type) ? box : undefined;
  if (box.type === 'moof' || box.type === 'mdat') throw new UnsupportedMp4('A box reaches beyond the file');
  return undefined;
}

/**
 * The boxes of a fragment. The content of each can be read until the next one is requested.
 * @throws UnsupportedMp4 when it does not consist of such boxes as fragments have
 */
export async function* readFragmentBoxes(reader: BoxReader, fragment: Pick<FragmentEntry, 'offset' | 'bytes'>) {
  const end = fragment.offset + fragment.bytes;
  for (let at = fragment.offset; at < end; ) {
    const box = await readBox(reader, at, end);
    if (!box || !FRAGMENT_BOXES.has(box.type) || !isInside(box, end)) {
      throw new UnsupportedMp4('Segment index does not fit its file');
    }
    yield box;
    at = box.end;
  }
}

/** A whole box whose header has just been read. */
export const readWhole = async (reader: BoxReader, { header, content, end }: FileBox): Promise<Buffer> =>
  Buffer.concat([header, await reader.read(end - content)]);

/** As `readWhole`. @throws UnsupportedMp4 when it is too large */
export function readMoof(reader: BoxReader, box: FileBox): Promise<Buffer> {
  if (box.end - box.start > MAX_MOOF_BYTES) throw new UnsupportedMp4('moof too large');
  return readWhole(reader, box);
}

export interface HeaderOptions {
  /** A longer `moov` is not read. */
  readonly maxBytes: number;
  /** Awaited before a `moov` of this many bytes is read into memory. */
  readonly beforeRead: (bytes: number) => Promise<void> | undefined;
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
 * @throws UnsupportedMp4
 */
export async function readFileHeader(reader: BoxReader, { maxBytes, beforeRead }: HeaderOptions): Promise<FileHeader> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const box = await readTopLevelBox(reader, at);
    if (!box || (count === 0 && box.type !== 'ftyp')) break;
    if (box.type === 'moof') break;
    if (box.type === 'moov') {
      const bytes = box.end - box.content;
      if (bytes > maxBytes) throw new UnsupportedMp4('moov too large');
      await beforeRead(bytes);
      return { moov: await reader.read(bytes), start: box.content, end: box.end };
    }
    at = box.end;
  }
  throw new UnsupportedMp4('Not an MP4 with a moov');
}
