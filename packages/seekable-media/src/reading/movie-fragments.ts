import { type MovieFragment, UnsupportedMp4 } from '../isobmff/index.ts';
import type { FragmentEntry } from '../virtual-mp4/index.ts';
import { type BoxReader, readFragmentBoxes, readMoof } from './box-reader.ts';
import { ByteReader, type ByteSource } from './byte-reader.ts';

/** Of one fragment. */
const MAX_MOOFS = 1024;
/** Bytes of a read: most `moof` boxes fit. */
const READ_BYTES = 8 * 1024;
/** Reads of one file at a time. */
const PARALLELISM = 4;
/** Bytes of all `moof` boxes together. */
const MAX_TOTAL_BYTES = 32 * 1024 * 1024;
/** `moof` boxes of all fragments together: those of low latency have one for each frame. */
const MAX_TOTAL_MOOFS = 0xffff;

/**
 * Reads the `moof` boxes of fragments, without their samples.
 * @param files that are read for one request, with this one
 * @returns them in the order of the fragments
 * @throws UnsupportedMp4 when a fragment is not what the segment index says
 */
export async function readMovieFragments(
  file: ByteSource,
  entries: readonly FragmentEntry[],
  { files, signal }: { readonly files: number; readonly signal: AbortSignal },
): Promise<readonly MovieFragment[]> {
  const found: MovieFragment[][] = [];
  const readers: ByteReader[] = [];
  const destroy = () => {
    for (const reader of readers) reader.destroy();
  };
  // Those of a pair may be as large.
  const share = Math.min(1, 2 / files);
  let next = 0;
  let totalBytes = 0;
  let totalMoofs = 0;
  const work = async () => {
    const reader = new ByteReader(file, (position) => position + READ_BYTES);
    readers.push(reader);
    for (let index = next++; index < entries.length; index = next++) {
      const fragments = await readMoofs(reader, entries[index] as FragmentEntry);
      totalBytes += fragments.reduce((sum, { bytes }) => sum + bytes.length, 0);
      totalMoofs += fragments.length;
      if (totalBytes > MAX_TOTAL_BYTES * share || totalMoofs > MAX_TOTAL_MOOFS * share)
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

/** The `moof` boxes of a fragment. @throws as `readMovieFragments` */
export async function readMoofs(
  reader: BoxReader,
  entry: Pick<FragmentEntry, 'offset' | 'bytes'>,
): Promise<MovieFragment[]> {
  const found: MovieFragment[] = [];
  for await (const box of readFragmentBoxes(reader, entry)) {
    if (box.type !== 'moof') continue;
    if (found.length === MAX_MOOFS) throw new UnsupportedMp4('Too many moof boxes in a fragment');
    found.push({ offset: box.start, bytes: await readMoof(reader, box) });
  }
  if (found.length === 0) throw new UnsupportedMp4('A fragment without moof');
  return found;
}
