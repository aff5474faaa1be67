import {
  BOX_HEADER_BYTES,
  type Box,
  boxHeader,
  parseBoxes,
  parseSegmentIndex,
  UnsupportedMp4,
} from '../../core/media/isobmff/index.ts';
import {
  type FragmentEntry,
  type FragmentIndex,
  type LayoutSource,
  MAX_FRAGMENTS,
} from '../../core/media/virtual-mp4/index.ts';
import { ByteReader, readFileHeader, readNextFragmentBox, readTopLevelBox } from '../mux/native/index.ts';
import { isFragmentBox, MAX_MOOF_BYTES } from './fragment-boxes.ts';
import type { SizedFile } from './layout-stream.ts';

/** Bytes of a read: the `moov` and `sidx` of most fragmented files fit. */
const HEADER_READ_BYTES = 64 * 1024;
/** Boxes between `moov` and `sidx`, and after the last fragment. */
const MAX_SKIPPED_BOXES = 8;
/** The largest `sidx` has 65,535 entries of 12 bytes. */
const MAX_INDEX_BYTES = 1024 * 1024;
/** Indexes of a hierarchy, each of which is one more read. */
const MAX_INDEXES = 64;
/** Boxes that may follow the last fragment. */
const TRAILERS = new Set(['mfra', 'free', 'skip', 'udta', 'meta', 'uuid']);

/**
 * Reads the headers of a file: `moov`, and the segment index of a fragmented file.
 * @throws UnsupportedMp4 when the fragments are not all known from them, and whatever reading throws
 */
export async function readLayoutSource(source: SizedFile, signal: AbortSignal): Promise<LayoutSource> {
  const reader = new ByteReader(source, { readEnd: (position) => position + HEADER_READ_BYTES });
  const destroy = () => reader.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  try {
    signal.throwIfAborted();
    const { moov, end } = await readFileHeader(reader);
    const isFragmented = [...parseBoxes(moov)].some(({ type }) => type === 'mvex');
    const fragments = isFragmented ? await readFragmentIndex(reader, end) : undefined;
    return { moov, fileBytes: reader.size, fragments };
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}

/** @param start offset of the end of `moov` */
async function readFragmentIndex(reader: ByteReader, start: number): Promise<FragmentIndex> {
  const root = await readIndex(reader, await findIndex(reader, start));
  const entries: FragmentEntry[] = [];
  const budget = { indexes: MAX_INDEXES };
  const startTime = await collectEntries(reader, root, entries, budget);
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) throw new UnsupportedMp4('Empty segment index');
  const firstMoof = await readFirstMoof(reader, first);
  await requireLast(reader, last.offset + last.bytes);
  return { timescale: root.timescale, startTime, entries, firstMoof };
}

async function findIndex(reader: ByteReader, start: number): Promise<Box> {
  let at = start;
  for (let count = 0; count < MAX_SKIPPED_BOXES; count += 1) {
    const box = await readTopLevelBox(reader, at);
    if (box?.type === 'sidx') return box;
    if (!box || box.type === 'moof' || box.type === 'mdat') break;
    at = box.end;
  }
  throw new UnsupportedMp4('No segment index after moov');
}

type ReadIndex = NonNullable<ReturnType<typeof parseSegmentIndex>> & { readonly end: number };

/** The reader is at the content of the box. */
async function readIndex(reader: ByteReader, { start, content, end }: Box): Promise<ReadIndex> {
  if (end - start > MAX_INDEX_BYTES) throw new UnsupportedMp4('Segment index too large');
  // The parser expects the header, of which only the length of its size field matters.
  const header = Buffer.alloc(content - start);
  if (header.length > 8) header.writeUInt32BE(1);
  const index = parseSegmentIndex(Buffer.concat([header, await reader.read(end - content)]));
  if (!index) throw new UnsupportedMp4('Truncated segment index');
  return { ...index, end };
}

/** Adds the fragments of an index and of the indexes it refers to. Returns the time of the first one. */
async function collectEntries(
  reader: ByteReader,
  index: ReadIndex,
  entries: FragmentEntry[],
  budget: { indexes: number },
): Promise<number> {
  let offset = index.end + index.firstOffset;
  let startTime = index.earliestPresentationTime;
  for (const [position, { isIndex, size: bytes, duration, accessPoint }] of index.entries.entries()) {
    if (isIndex) {
      budget.indexes -= 1;
      const box = budget.indexes >= 0 ? await readTopLevelBox(reader, offset) : undefined;
      if (box?.type !== 'sidx' || box.end > offset + bytes) throw new UnsupportedMp4('Unusable index of an index');
      const nested = await readIndex(reader, box);
      if (nested.timescale !== index.timescale) throw new UnsupportedMp4('Segment indexes with different time scales');
      const nestedTime = await collectEntries(reader, nested, entries, budget);
      if (position === 0) startTime = nestedTime;
    } else entries.push({ offset, bytes, duration, accessPoint });
    if (entries.length > MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
    offset += bytes;
  }
  return startTime;
}

/** The first `moof` of the first fragment: an index that is wrong is usually wrong from its first entry. */
async function readFirstMoof(reader: ByteReader, { offset, bytes }: FragmentEntry) {
  let at = offset;
  for (let count = 0; count < MAX_SKIPPED_BOXES; count += 1) {
    const box = await readTopLevelBox(reader, at);
    if (!box || !isFragmentBox(box.type) || box.end > offset + bytes) break;
    if (box.type === 'moof' && box.content - box.start === BOX_HEADER_BYTES && box.end - box.start <= MAX_MOOF_BYTES) {
      const header = boxHeader('moof', box.end - box.start);
      return { offset: at, box: Buffer.concat([header, await reader.read(box.end - box.content)]) };
    }
    at = box.end;
  }
  throw new UnsupportedMp4('Segment index does not fit its file');
}

/** @throws UnsupportedMp4 when there is more media after the last fragment */
async function requireLast(reader: ByteReader, end: number): Promise<void> {
  let at = end;
  for (let count = 0; at < reader.size; count += 1) {
    const box = await readNextFragmentBox(reader, at);
    if (!box) return;
    if (count >= MAX_SKIPPED_BOXES || !TRAILERS.has(box.type)) throw new UnsupportedMp4('Fragments without an index');
    at = box.end;
  }
}
