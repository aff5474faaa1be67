import { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { ByteReader } from './byte-reader.ts';

/** A box of the file itself. Offsets in bytes, `end` excluded. */
export interface TopBox {
  readonly type: string;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

const HEADER_BYTES = 8;
const LARGE_BYTES = 8;
/** Longer ones fall back to FFmpeg: one is held for as long as its stream runs. Nine hours of video have 12 MB. */
const MAX_MOOV_BYTES = 16 * 1024 * 1024;
/** Four characters of ASCII; QuickTime's begin with a copyright sign. */
const BOX_NAME = /^[\x20-\x7e\xa9]{4}$/;
/** Boxes before the header. */
const MAX_BOXES = 64;

/**
 * Reads the header of the box at a place and stands behind it; undefined at the end of the file.
 * @throws Unsupported when it makes no sense, and whatever reading throws
 */
export async function topBox(cursor: ByteReader, start: number): Promise<TopBox | undefined> {
  const found = await readBox(cursor, start);
  return found && inside(found, cursor);
}

/**
 * The same behind the first fragment, where players let a file end with bytes that are no box. Media that is cut is
 * none of those.
 * @throws Unsupported, and whatever reading throws
 */
export async function nextFragmentBox(cursor: ByteReader, start: number): Promise<TopBox | undefined> {
  const found = await readBox(cursor, start);
  if (found?.type === 'moof' || found?.type === 'mdat') return inside(found, cursor);
  return found && BOX_NAME.test(found.type) && isInside(found, cursor) ? found : undefined;
}

const isInside = ({ content, end }: TopBox, { size }: ByteReader) => end >= content && end <= size;

function inside(found: TopBox, cursor: ByteReader): TopBox {
  if (!isInside(found, cursor)) throw new UnsupportedMp4('A box reaches beyond the file');
  return found;
}

async function readBox(cursor: ByteReader, start: number): Promise<TopBox | undefined> {
  if (start + HEADER_BYTES > cursor.size) return undefined;
  cursor.seek(start);
  const header = await cursor.read(HEADER_BYTES);
  const size = header.readUInt32BE(0);
  const isLarge = size === 1 && start + HEADER_BYTES + LARGE_BYTES <= cursor.size;
  const bytes = isLarge ? Number((await cursor.read(LARGE_BYTES)).readBigUInt64BE()) : size;
  const content = cursor.position;
  const end = size === 0 ? cursor.size : start + bytes;
  return { type: header.toString('latin1', 4), start, content, end };
}

/** What a file says before its media. */
export interface FileHeader {
  /** The content of `moov`. */
  readonly moov: Buffer;
  /** The place behind it. */
  readonly end: number;
}

/**
 * Finds `moov`, in front of the media or behind it.
 * @throws Unsupported, and whatever reading throws
 */
export async function readHeader(cursor: ByteReader): Promise<FileHeader> {
  let at = 0;
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const found = await topBox(cursor, at);
    if (!found || (count === 0 && found.type !== 'ftyp')) break;
    if (found.type === 'ftyp' && (await isQuickTime(cursor, found))) break;
    if (found.type === 'moof') break;
    if (found.type === 'moov') {
      const bytes = found.end - found.content;
      if (bytes > MAX_MOOV_BYTES) throw new UnsupportedMp4('The header is too long');
      return { moov: await cursor.read(bytes), end: found.end };
    }
    at = found.end;
  }
  throw new UnsupportedMp4('No MP4 with a header');
}

/** QuickTime describes sound in ways of its own. */
async function isQuickTime(cursor: ByteReader, { content, end }: TopBox): Promise<boolean> {
  if (end - content < 4) throw new UnsupportedMp4('A box is cut');
  return (await cursor.read(4)).toString('latin1') === 'qt  ';
}
