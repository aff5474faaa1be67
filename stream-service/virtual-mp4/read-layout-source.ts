import { parseBoxes } from '../../core/media/isobmff/index.ts';
import type { LayoutSource } from '../../core/media/virtual-mp4/index.ts';
import { ByteReader, readFileHeader } from '../mux/native/index.ts';
import { collectFragments } from './collect-fragments.ts';
import type { SizedFile } from './layout-stream.ts';

/** Bytes of a read: the `moov` and `sidx` of most fragmented files fit. */
const HEADER_READ_BYTES = 64 * 1024;
/** What reading the headers reads first. */
export const HEADER_RANGE = { first: 0, last: HEADER_READ_BYTES - 1 };
/** A longer `moov` is not read: ten hours of video at 60 frames a second have up to 28 MB. */
const MAX_MOOV_BYTES = 32 * 1024 * 1024;
/** About three hours of video. */
const LARGE_MOOV_BYTES = 4 * 1024 * 1024;

/**
 * Reads the headers of a file: `moov`, and the segment index of a fragmented file.
 * @param beforeLarge is awaited before a header is read that needs much memory
 * @throws UnsupportedMp4 when the fragments are not all known from them, and whatever reading throws
 */
export async function readLayoutSource(
  source: SizedFile,
  signal: AbortSignal,
  beforeLarge: () => Promise<void> = async () => undefined,
): Promise<LayoutSource> {
  const reader = new ByteReader(source, { readEnd: (position) => position + HEADER_READ_BYTES });
  const destroy = () => reader.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  try {
    signal.throwIfAborted();
    const { moov, start, end } = await readFileHeader(reader, {
      maxBytes: MAX_MOOV_BYTES,
      beforeRead: (bytes) => (bytes > LARGE_MOOV_BYTES ? beforeLarge() : undefined),
    });
    const isFragmented = [...parseBoxes(moov)].some(({ type }) => type === 'mvex');
    const fragments = isFragmented ? await collectFragments(reader, moov, end) : undefined;
    return { moov, moovOffset: start, fileBytes: reader.size, fragments };
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}
