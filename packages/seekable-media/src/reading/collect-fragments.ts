import {
  findRandomAccessBytes,
  type IndexedBox,
  type MovieFragment,
  parseRandomAccess,
  parseSegmentIndex,
  parseTrackHeader,
  type RandomAccessPoint,
  type SegmentIndex,
  type TrackHeader,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { MEASURE_FRAGMENT, type Parsing, runTask } from '../tasks/index.ts';
import { type FragmentEntry, type FragmentIndex, isClosed, MAX_FRAGMENTS } from '../virtual-mp4/index.ts';
import {
  type FileBox,
  readFragmentBoxes,
  readMoof,
  readNextFragmentBox,
  readTopLevelBox,
  readWhole,
} from './box-reader.ts';
import type { ByteReader } from './byte-reader.ts';

/** The largest `sidx` has 65,535 entries of 12 bytes. */
const MAX_INDEX_BYTES = 1024 * 1024;
/** Indexes and fragments without an index, each of which may cost one more read before the first byte is sent. */
const MAX_READS = 32;
/** Boxes before the first `moof` of a fragment. */
const MAX_LEADING_BOXES = 8;
/** Boxes between fragments, and after the last one. */
const MAX_SKIPPED_BOXES = 64;
const SKIPPED_BOXES = new Set(['styp', 'ssix', 'emsg', 'prft', 'free', 'skip', 'uuid', 'mfra', 'udta', 'meta']);

/** The `mfra` of an hour in fragments of a few seconds is read at once. */
const TAIL_BYTES = 32 * 1024;

/** `SAP_type` 0 (§8.16.3.3). */
const UNKNOWN_ACCESS_POINT = 0;
/** `starts_with_SAP`: an `mfra` does not say of which type. */
const ACCESS_POINT = 0x8000_0000;

/** The `moov` of a file. */
interface MovieBox {
  readonly index: IndexedBox;
  /** Offset of its end. */
  readonly end: number;
}

export interface CollectOptions extends Parsing {
  /** The index is known to be right: the first fragment is read only where the index leaves something open. @default false */
  readonly isExact?: boolean | undefined;
}

type ReadIndex = SegmentIndex & { readonly end: number };

/**
 * Collects the fragments of a file: from one `sidx` for all of them, from a hierarchy, from several one after another; where
 * there is none, from the `mfra` at the end of the file, or else from each `moof`.
 * @throws UnsupportedMp4 when not every fragment can be known by a few reads
 */
export async function collectFragments(
  reader: ByteReader,
  movie: MovieBox,
  { isExact, ...options }: CollectOptions,
): Promise<FragmentIndex> {
  const fragments = new FragmentCollector(reader, movie.index, options);
  let firstMoof: MovieFragment | undefined;
  for (let at: number | undefined = movie.end; at !== undefined && at < reader.size; ) {
    at = await fragments.next(at);
    const [first] = fragments.entries;
    // At once, because it is near: what follows the fragments is at the end of the file.
    if (first && !(isExact && fragments.entries.every(isClosed))) firstMoof ??= await readFirstMoof(reader, first);
  }
  if (fragments.entries.length === 0) throw new UnsupportedMp4('No fragments');
  const { timescale, startTime, entries } = fragments;
  return { timescale, startTime, entries, firstMoof };
}

class FragmentCollector {
  readonly entries: FragmentEntry[] = [];
  /** Units per second. 0 until there is a fragment. */
  timescale = 0;
  /** Units: time of the first fragment. */
  startTime = 0;
  readonly #reader: ByteReader;
  readonly #movie: IndexedBox;
  readonly #options: Parsing;
  #reads = 0;
  #skipped = 0;

  constructor(reader: ByteReader, movie: IndexedBox, options: Parsing) {
    this.#reader = reader;
    this.#movie = movie;
    this.#options = options;
  }

  /** Reads the box at an offset. Returns where to continue; undefined: at the end of the media. */
  async next(at: number): Promise<number | undefined> {
    const isFirst = this.entries.length === 0;
    const box = await (isFirst ? readTopLevelBox : readNextFragmentBox)(this.#reader, at);
    if (box?.type === 'sidx') return this.#addIndex(await this.#readIndex(box), true);
    if (box?.type === 'moof') {
      const end = isFirst ? await this.#addRandomAccess(box.start) : undefined;
      return end ?? this.#addFragment(box.start);
    }
    if (!box) return undefined;
    this.#skipped += 1;
    if (this.#skipped > MAX_SKIPPED_BOXES || !SKIPPED_BOXES.has(box.type)) {
      throw new UnsupportedMp4('Segment index does not fit its file');
    }
    return box.end;
  }

  #countRead(): void {
    this.#reads += 1;
    if (this.#reads > MAX_READS) throw new UnsupportedMp4('Too many indexes, or fragments without an index');
  }

  /** The reader is at the content of the box. */
  async #readIndex(box: FileBox): Promise<ReadIndex> {
    this.#countRead();
    if (box.end - box.start > MAX_INDEX_BYTES) throw new UnsupportedMp4('Segment index too large');
    const index = parseSegmentIndex(await readWhole(this.#reader, box));
    if (!index) throw new UnsupportedMp4('Truncated segment index');
    if (this.timescale === 0) {
      this.timescale = index.timescale;
      this.startTime = index.earliestPresentationTime;
    } else if (index.timescale !== this.timescale) {
      throw new UnsupportedMp4('Segment indexes with different time scales');
    }
    return { ...index, end: box.end };
  }

  /**
   * Adds the fragments of an index and of the indexes it refers to.
   * @param isAtTop its time is that of its first fragment, which a hierarchy repeats
   * @returns the offset of their end
   */
  async #addIndex(index: ReadIndex, isAtTop: boolean): Promise<number> {
    let offset = index.end + index.firstOffset;
    let time = isAtTop ? index.earliestPresentationTime : undefined;
    for (const { isIndex, size: bytes, duration, accessPoint } of index.entries) {
      if (isIndex) {
        const box = await readTopLevelBox(this.#reader, offset);
        if (box?.type !== 'sidx' || box.end > offset + bytes) throw new UnsupportedMp4('Unusable index of an index');
        await this.#addIndex(await this.#readIndex(box), false);
      } else this.#add({ offset, bytes, duration, accessPoint, time });
      time = undefined;
      offset += bytes;
    }
    return offset;
  }

  /**
   * Adds the fragments that the `mfra` lists, the last of which is measured. @param first offset of the first `moof`
   * @returns the offset of their end; undefined when there is no such list, or it has not all of them
   */
  async #addRandomAccess(first: number): Promise<number | undefined> {
    const { id: trackId } = findOnlyTrack(this.#movie);
    const tailBytes = Math.min(TAIL_BYTES, this.#reader.size - first);
    let mfra = await this.#readAt(this.#reader.size - tailBytes, tailBytes);
    const bytes = findRandomAccessBytes(mfra);
    if (bytes === undefined || bytes > Math.min(MAX_INDEX_BYTES, this.#reader.size - first)) return undefined;
    const end = this.#reader.size - bytes;
    mfra = bytes > tailBytes ? await this.#readAt(end, bytes) : mfra.subarray(-bytes);
    const points = parseRandomAccess(mfra, trackId);
    const last = points?.pop();
    if (!points || !last || (points[0] ?? last).offset !== first) return undefined;
    const starts = [...points, last];
    for (const [index, { offset, time }] of points.entries()) {
      const next = starts[index + 1] ?? last;
      this.#add({ offset, time, bytes: next.offset - offset, duration: next.time - time, accessPoint: ACCESS_POINT });
    }
    const lastEnd = await this.#addFragment(last.offset, last);
    this.startTime = starts[0]?.time ?? 0;
    return lastEnd;
  }

  #readAt(offset: number, bytes: number): Promise<Buffer> {
    this.#reader.seek(offset);
    return this.#reader.read(bytes);
  }

  /** Adds a `moof` and its `mdat`, which no index describes. @param known where it is listed */
  async #addFragment(offset: number, known?: RandomAccessPoint): Promise<number> {
    this.#countRead();
    const box = await readTopLevelBox(this.#reader, offset);
    if (box?.type !== 'moof') throw new UnsupportedMp4('Segment index does not fit its file');
    const fragment = { bytes: await readMoof(this.#reader, box), offset: box.start };
    const { id: trackId, timescale, fragmentDefaults: defaults = Buffer.alloc(16) } = findOnlyTrack(this.#movie);
    const { startTime, endTime } = await runTask(MEASURE_FRAGMENT, { fragment, trackId, defaults }, this.#options);
    let mdat = await readTopLevelBox(this.#reader, box.end);
    while (mdat?.type === 'free') mdat = await readTopLevelBox(this.#reader, mdat.end);
    if (mdat?.type !== 'mdat') throw new UnsupportedMp4('A moof without mdat');
    if (this.timescale === 0) {
      this.timescale = timescale;
      this.startTime = startTime;
    }
    // Rounded at both ends, so that errors do not add up.
    const units = (time: number) => Math.round((time * this.timescale) / timescale);
    const duration = units(endTime) - units(startTime);
    const accessPoint = known ? ACCESS_POINT : UNKNOWN_ACCESS_POINT;
    this.#add({ offset, time: known?.time, bytes: mdat.end - offset, duration, accessPoint });
    return mdat.end;
  }

  #add(entry: FragmentEntry): void {
    if (this.entries.length === MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
    this.entries.push(entry);
  }
}

/** @throws UnsupportedMp4 when the movie has neither a video nor an audio track */
function findOnlyTrack(movie: IndexedBox): TrackHeader {
  try {
    return parseTrackHeader(movie, 'vide');
  } catch (error) {
    if (!(error instanceof UnsupportedMp4)) throw error;
    return parseTrackHeader(movie, 'soun');
  }
}

/** The first `moof` of the first fragment: an index that is wrong is usually wrong from its first entry. */
async function readFirstMoof(reader: ByteReader, first: FragmentEntry): Promise<MovieFragment> {
  let count = 0;
  for await (const box of readFragmentBoxes(reader, first)) {
    if (box.type === 'moof') return { offset: box.start, bytes: await readMoof(reader, box) };
    count += 1;
    if (count === MAX_LEADING_BOXES) break;
  }
  throw new UnsupportedMp4('Segment index does not fit its file');
}
