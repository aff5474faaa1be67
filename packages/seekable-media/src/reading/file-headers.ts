import { indexMovie } from '../isobmff/index.ts';
import type { Parsing } from '../tasks/index.ts';
import type { FileHeaders } from '../virtual-mp4/index.ts';
import { readFileHeader } from './box-reader.ts';
import type { ByteReader } from './byte-reader.ts';
import { collectFragments } from './collect-fragments.ts';

/** Bytes of a read: the `moov` and `sidx` of most fragmented files fit. */
const HEADER_READ_BYTES = 64 * 1024;
/** What reading the headers reads first. */
export const HEADER_RANGE = { first: 0, last: HEADER_READ_BYTES - 1 };
/** A longer `moov` is not read: ten hours of video at 60 frames a second have up to 28 MB. */
export const MAX_MOOV_BYTES = 32 * 1024 * 1024;

export interface HeaderReadOptions extends Parsing {
  /** Awaited before a header of so many bytes is read. */
  readonly beforeRead?: (bytes: number) => Promise<void>;
  /** What follows the header will be read. @default it is not requested */
  readonly isReadOn?: boolean;
  /** Bytes of the headers of a file that is known to be right, and whose media is better not read. @default not known */
  readonly headerBytes?: number | undefined;
}

/**
 * Reads the headers of a file: `moov`, and the segment index of a fragmented file.
 * @throws UnsupportedMp4 when the fragments are not all known from them
 */
export async function readFileHeaders(
  reader: ByteReader,
  { beforeRead, headerBytes = 0, isReadOn = false, ...parsing }: HeaderReadOptions = {},
): Promise<FileHeaders> {
  const { size } = reader;
  reader.readEnd = (position) => {
    if (position < headerBytes) return headerBytes;
    return isReadOn && position === 0 ? size : position + HEADER_READ_BYTES;
  };
  const { moov, start, end } = await readFileHeader(reader, {
    maxBytes: MAX_MOOV_BYTES,
    beforeRead: (bytes) => beforeRead?.(bytes),
  });
  const movie = indexMovie(moov);
  const isFragmented = movie.children.some(({ type }) => type === 'mvex');
  const fragments = isFragmented
    ? await collectFragments(reader, { index: movie, end }, { ...parsing, isExact: headerBytes > 0 })
    : undefined;
  const { firstMoof } = fragments ?? {};
  // It is a part of the media.
  if (isReadOn && firstMoof) reader.unread(firstMoof.bytes, firstMoof.offset);
  return { movie, moovOffset: start, fileBytes: size, fragments };
}
