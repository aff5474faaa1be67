import { Readable } from 'node:stream';
import { createSlices } from '@reelay/concurrency';
import { checkedPage, oggHeaderBytes } from '@reelay/seekable-media/ogg';
import { type Extent, type Layout, placesSpan, type SourceIndex } from '@reelay/seekable-media/virtual-mp4';
import { nameOf } from '@reelay/source/names';
import type { FragmentSource } from '@reelay/source/placed-file';
import { copiedFragments, type FragmentReader, madeFragments, readPlacesOf } from '@reelay/source/places';
import { parse } from '../../../core/parsing/index.ts';
import type { ByteReader } from '../byte-reader.ts';
import { type ComputedExtents, createComputedExtents, type SharedFile } from '../computed-extents.ts';
import { fileFragments } from './file-fragments.ts';

const HIGH_WATER_MARK_BYTES = 64 * 1024;
/** Own bytes are copied in pieces of this size: the reader of the stream owns its chunks. */
const OWN_CHUNK_BYTES = 64 * 1024;
/** Shorter pieces are joined to chunks of `OWN_CHUNK_BYTES`: a hostile file has many samples of one byte each. */
const MIN_CHUNK_BYTES = 1024;
/** Beyond the range, for the rest of a `moof`. */
const EXTRA_READ_BYTES = 64 * 1024;

/** Bytes of a source to be passed on without copying. Offsets in the source, `end` excluded. */
interface SourceRead {
  readonly reader: ByteReader;
  readonly start: number;
  readonly end: number;
}

/** Bytes of a file. Offsets, both included. */
interface SourceSpan {
  readonly first: number;
  readonly last: number;
}

interface LayoutStreamOptions {
  readonly layout: Layout;
  /** Offsets, both included. */
  readonly first: number;
  readonly last: number;
  /** Opens a source, whose reader has bytes and ends with the stream. Of the span that will be read, `first` is exact. */
  readonly openSource: (source: SourceIndex, span: SourceSpan) => Promise<ByteReader>;
  /** The client whose share of parsing is used. @default the service itself */
  readonly client?: string | undefined;
}

/** How a layout of places is read besides. */
interface PlacedStreamOptions extends LayoutStreamOptions {
  /** By source: its fragments, if it is a list of segments. @default all are files */
  readonly lists?: readonly (FragmentSource | undefined)[];
  /** Where fragments of files are kept, and by what name. @default for this stream only */
  readonly extents?: ComputedExtents;
  readonly shared?: SharedFile;
}

/** The bytes of a range of a layout. @throws what reading the sources throws */
export function readLayoutBytes(options: PlacedStreamOptions): Readable {
  const { layout, openSource, client = '', lists = [], extents = createComputedExtents() } = options;
  if (layout.placeTracks.length === 0) return new LayoutStream(options);
  const openFile = async (source: SourceIndex) => (await openSource(source, { first: 0, last: 0 })).file;
  const { shared = extents.share(nameOf([], 'layout of one stream'), openFile) } = options;
  const open = (signal: AbortSignal, lastPlace: number) =>
    Array.from({ length: layout.sourceCount }, (_, source): FragmentReader => {
      const list = lists[source];
      if (list) return lists[0] ? madeFragments(list, signal) : copiedFragments(list, signal);
      const parsing = { client, signal };
      const openAt = (span: SourceSpan) => openSource(source, span);
      return fileFragments({ layout, source, lastPlace, shared, extents, parsing, open: openAt });
    });
  return readPlacesOf({ ...options, parse, client, open });
}

/** The first read of a source for a range of a layout; undefined when the range needs none of its bytes. */
export function findFirstRead(layout: Layout, source: SourceIndex, range: SourceSpan): SourceSpan | undefined {
  const { placeTracks } = layout;
  if (placeTracks.length > 0) {
    const [first, last] = [placeAt(layout, range.first), placeAt(layout, range.last)];
    return first > last ? undefined : placesSpan(placeTracks, source, { first, last: Math.min(last, first + 1) });
  }
  return splitAtMedia(layout, range)
    .map((part) => findSourceSpan(layout, source, part))
    .find((span) => span !== undefined);
}

/** The number of the place that an offset is in, or text before it; 0 for the header. */
function placeAt(layout: Layout, offset: number): number {
  for (let { index } = layout.extentAt(offset); index >= 0; index -= 1) {
    const { kind, sourceOffset } = layout.extent(index);
    if (kind === 'place') return sourceOffset;
  }
  return 0;
}

/** Reads a range of a layout, with only the bytes of each source that the range needs. */
class LayoutStream extends Readable {
  readonly #steps: AsyncGenerator<Buffer | SourceRead>;
  /** The read in progress: its bytes are pushed as they arrive, since a generator would add several ticks to each chunk. */
  #copying: { readonly reader: ByteReader; missingBytes: number } | undefined;
  /** Pieces that are not pushed yet. */
  #joined = Buffer.alloc(0);
  #joinedBytes = 0;
  readonly #readers: ByteReader[] = [];
  readonly #ended = new AbortController();
  /** A chunk of a source may have the bytes of thousands of extents. */
  readonly #endSlice = createSlices();
  #isPulling = false;
  /** `_read` was called while pulling. */
  #isWanted = false;

  constructor(options: LayoutStreamOptions) {
    super({ highWaterMark: HIGH_WATER_MARK_BYTES });
    this.#steps = this.#generate(options);
  }

  override _read(): void {
    this.#isWanted = true;
    if (this.#isPulling) return;
    this.#isPulling = true;
    this.#pull().catch((error) => this.destroy(error));
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const reader of this.#readers) reader.destroy();
    this.#ended.abort(error ?? new Error('The stream has ended'));
    callback(error);
  }

  async #pull(): Promise<void> {
    do {
      this.#isWanted = false;
      while (await this.#step()) await this.#endSlice();
    } while (this.#isWanted);
    this.#isPulling = false;
  }

  /** Pushes some bytes, or begins to copy some. Returns whether there is room for more. */
  async #step(): Promise<boolean> {
    if (this.#copying) return (await this.#copy(this.#copying)) && !this.destroyed;
    const { value, done } = await this.#steps.next();
    if (this.destroyed) return false;
    if (done) {
      this.#pushJoined();
      this.push(null);
    } else if (Buffer.isBuffer(value)) return this.#pushPiece(value);
    else {
      value.reader.seek(value.start);
      this.#copying = { reader: value.reader, missingBytes: value.end - value.start };
    }
    return !done;
  }

  /** Pushes what is available of a read, or waits for it. Returns whether there is room for more. */
  async #copy(copying: { readonly reader: ByteReader; missingBytes: number }): Promise<boolean> {
    const { reader } = copying;
    let chunk = reader.take(copying.missingBytes);
    if (!chunk) {
      if (!this.#pushJoined()) return false;
      await reader.ready();
    }
    while (chunk) {
      copying.missingBytes -= chunk.length;
      if (copying.missingBytes === 0) this.#copying = undefined;
      if (!this.#pushPiece(chunk)) return false;
      chunk = copying.missingBytes > 0 ? reader.take(copying.missingBytes) : undefined;
    }
    return true;
  }

  /** Pushes a piece, or joins it to others. Returns whether there is room for more. */
  #pushPiece(piece: Buffer): boolean {
    if (piece.length >= MIN_CHUNK_BYTES) {
      this.#pushJoined();
      return this.push(piece);
    }
    if (this.#joinedBytes + piece.length > this.#joined.length) {
      const hasRoom = this.#pushJoined();
      this.#joined = Buffer.allocUnsafeSlow(OWN_CHUNK_BYTES);
      this.#joinedBytes = piece.copy(this.#joined);
      return hasRoom;
    }
    this.#joinedBytes += piece.copy(this.#joined, this.#joinedBytes);
    return true;
  }

  /** Pushes the pieces that were joined. Returns whether there is room for more. */
  #pushJoined(): boolean {
    const joined = this.#joined.subarray(0, this.#joinedBytes);
    this.#joined = this.#joined.subarray(this.#joinedBytes);
    this.#joinedBytes = 0;
    return joined.length === 0 || this.push(joined);
  }

  async *#generate({ layout, first, last, openSource }: LayoutStreamOptions): AsyncGenerator<Buffer | SourceRead> {
    const parts = splitAtMedia(layout, { first, last }).map((part) => ({
      ...part,
      readers: this.#openReaders(layout, part, openSource),
    }));
    // The status of the response depends on whether the sources can be opened.
    await Promise.all(parts.flatMap(({ readers }) => readers));
    for (const part of parts) yield* generatePart(layout, part);
  }

  /** A reader for each source that has bytes of a part. */
  #openReaders(layout: Layout, part: SourceSpan, openSource: LayoutStreamOptions['openSource']): Readers {
    const open = (source: SourceIndex) => {
      const span = findSourceSpan(layout, source, part);
      const reader = span && this.#openReader(openSource(source, span), span.first, () => span.last);
      reader?.catch(() => undefined);
      return reader;
    };
    return Array.from({ length: layout.sourceCount }, (_, source) => open(source));
  }

  /** @param lastOf offset of the last byte that is needed of the source at present */
  async #openReader(opening: Promise<ByteReader>, first: number, lastOf: () => number): Promise<ByteReader> {
    const reader = await opening;
    this.#readers.push(reader);
    if (this.destroyed) reader.destroy();
    reader.readEnd = (position) => {
      const last = lastOf();
      return position <= last ? last + 1 : position + EXTRA_READ_BYTES;
    };
    reader.seek(first);
    return reader;
  }
}

type Readers = readonly (Promise<ByteReader> | undefined)[];

/** A range of the output. */
interface LayoutPart extends SourceSpan {
  /** By source. */
  readonly readers: Readers;
}

async function* generatePart(
  layout: Layout,
  { first, last, readers }: LayoutPart,
): AsyncGenerator<Buffer | SourceRead> {
  for (let at = first; at <= last; ) {
    const extent = layout.extentAt(at);
    const end = Math.min(extent.start + extent.bytes, last + 1);
    const skipped = at - extent.start;
    if (extent.kind === 'own') yield* copyOwnBytes(layout.own, extent.sourceOffset + skipped, end - at);
    else {
      const reader = await readers[extent.source];
      if (!reader) throw new Error(`Source ${extent.source} is not open`);
      if (extent.kind === 'samples') {
        yield { reader, start: extent.sourceOffset + skipped, end: extent.sourceOffset + end - extent.start };
      } else yield await readPage(reader, layout, { extent, first: at, end });
    }
    at = end;
  }
}

function* copyOwnBytes(own: Buffer, start: number, bytes: number): Generator<Buffer> {
  for (let at = start; at < start + bytes; at += OWN_CHUNK_BYTES) {
    yield Buffer.from(own.subarray(at, Math.min(at + OWN_CHUNK_BYTES, start + bytes)));
  }
}

/** Splits a range of the output where its media begins: within each part, every source is read in its own order. */
const splitAtMedia = ({ mediaStart }: Layout, { first, last }: SourceSpan): readonly SourceSpan[] =>
  [
    { first, last: Math.min(last, mediaStart - 1) },
    { first: Math.max(first, mediaStart), last },
  ].filter((part) => part.first <= part.last);

/**
 * The bytes of a source that a range of the output needs; undefined when it needs none. A fragment is needed from its
 * start, because its `moof` is patched, and a page as a whole, because of its checksum.
 * @param range of the output, within one part
 */
function findSourceSpan(layout: Layout, source: SourceIndex, { first, last }: SourceSpan): SourceSpan | undefined {
  const [from, to] = [layout.extentAt(first).index, layout.extentAt(last).index];
  const begin = layout.findExtent(source, from, to);
  const end = layout.findExtent(source, to, from);
  if (!begin || !end) return undefined;
  const skipped = begin.kind === 'samples' ? Math.max(0, first - begin.start) : 0;
  return {
    first: begin.sourceOffset + skipped,
    last: end.sourceOffset + (end.kind === 'page' ? end.bytes : Math.min(end.bytes, last + 1 - end.start)) - 1,
  };
}

/**
 * The part of a page of Ogg from `first` to `end`, which is excluded: offsets in the output. The whole page is read, since
 * its header has a checksum of its data.
 */
async function readPage(
  reader: ByteReader,
  { own }: Pick<Layout, 'own'>,
  { extent, first, end }: { readonly extent: Extent; readonly first: number; readonly end: number },
): Promise<Buffer> {
  const { start, bytes, sourceOffset, headerOffset } = extent;
  const header = own.subarray(headerOffset, headerOffset + oggHeaderBytes(own, headerOffset));
  reader.seek(sourceOffset);
  const page = checkedPage(header, await reader.read(bytes - header.length));
  return page.subarray(first - start, end - start);
}
