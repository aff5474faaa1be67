import { BOX_HEADER_BYTES, boxHeader, type MovieFragment, UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import { type FragmentEntry, MAX_MOOFS } from '../../../core/media/virtual-mp4/index.ts';
import { ByteReader, readTopLevelBox } from '../mux/native/index.ts';
import { isFragmentBox, MAX_MOOF_BYTES } from './fragment-boxes.ts';
import type { SizedFile } from './layout-stream.ts';

/** Bytes of a read: most `moof` boxes fit. */
const READ_BYTES = 8 * 1024;
/** Reads of one file at a time. */
const PARALLELISM = 4;
/** Of all `moof` boxes together. */
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** Of all fragments together: those of low latency have one for each frame. */
const MAX_TOTAL_MOOFS = 0xffff;

/**
 * Reads the `moof` boxes of fragments, without their samples.
 * @returns them in the order of the fragments
 * @throws UnsupportedMp4 when a fragment is not what the segment index says, and whatever reading throws
 */
export async function readMovieFragments(
  file: SizedFile,
  entries: readonly FragmentEntry[],
  signal: AbortSignal,
): Promise<readonly MovieFragment[]> {
  const found: MovieFragment[][] = [];
  const readers: ByteReader[] = [];
  const destroy = () => {
    for (const reader of readers) reader.destroy();
  };
  let next = 0;
  let totalBytes = 0;
  let totalMoofs = 0;
  const work = async () => {
    const reader = new ByteReader(file, { readEnd: (position) => position + READ_BYTES });
    readers.push(reader);
    for (let index = next++; index < entries.length; index = next++) {
      const fragments = await readFragment(reader, entries[index] as FragmentEntry);
      totalBytes += fragments.reduce((sum, { bytes }) => sum + bytes.length, 0);
      totalMoofs += fragments.length;
      if (totalBytes > MAX_TOTAL_BYTES || totalMoofs > MAX_TOTAL_MOOFS)
        throw new UnsupportedMp4('The clip is too long for a fragmented file');
      found[index] = fragments;
    }
  };
  signal.addEventListener('abort', destroy, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.all(Array.from({ length: Math.min(PARALLELISM, entries.length) }, work));
    return found.flat();
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}

async function readFragment(reader: ByteReader, { offset, bytes }: FragmentEntry): Promise<MovieFragment[]> {
  const found: MovieFragment[] = [];
  for (let at = offset; at < offset + bytes; ) {
    const box = await readTopLevelBox(reader, at);
    if (!box || !isFragmentBox(box.type) || box.end > offset + bytes) {
      throw new UnsupportedMp4('Segment index does not fit its file');
    }
    if (box.type === 'moof') {
      const boxBytes = box.end - box.start;
      const isLarge = boxBytes > MAX_MOOF_BYTES || box.content - box.start > BOX_HEADER_BYTES;
      if (isLarge || found.length === MAX_MOOFS) throw new UnsupportedMp4('moof too large');
      const content = await reader.read(box.end - box.content);
      found.push({ offset: box.start, bytes: Buffer.concat([boxHeader('moof', boxBytes), content]) });
    }
    at = box.end;
  }
  if (found.length === 0) throw new UnsupportedMp4('A fragment without moof');
  return found;
}
