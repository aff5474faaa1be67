import { checkedPage, oggHeaderBytes } from '../ogg.ts';
import type { Parsing } from '../tasks/index.ts';
import { type Extent, type Layout, type SourceIndex, subsegmentsSpan } from '../virtual-mp4/index.ts';
import { type ByteReader, passOn } from './byte-reader.ts';
import { type FragmentStore, fileFragments, NO_STORE } from './file-fragments.ts';
import { type ContentPart, copyChunks } from './subsegment-content.ts';
import { copiedFragments, type FragmentReader, type FragmentSource, readSubsegmentsOf } from './subsegments.ts';

const { signal: NEVER } = new AbortController();

/** Beyond the range, for the rest of a `moof`. */
const EXTRA_READ_BYTES = 64 * 1024;

/** Bytes of a file. Offsets, both included. */
interface SourceSpan {
  readonly first: number;
  readonly last: number;
}

export interface LayoutReadOptions extends Parsing, SourceSpan {
  readonly layout: Layout;
  /** Aborted when nobody reads on. @default never */
  readonly signal?: AbortSignal;
  /** Opens a source, whose reader has bytes and ends with the signal. Of the span that will be read, `first` is exact. */
  readonly openSource: (source: SourceIndex, span: SourceSpan) => Promise<ByteReader>;
  /** By source: its fragments, if it is a list of segments. @default all are files */
  readonly lists?: readonly (FragmentSource | undefined)[];
  /** Where fragments of files are kept. @default nowhere */
  readonly store?: FragmentStore;
}

/** The bytes of a range of a layout, in chunks that belong to the reader. @throws what reading the sources throws */
export function readLayoutBytes(options: LayoutReadOptions): AsyncGenerator<Buffer> {
  const { layout, openSource, signal = NEVER, lists = [], store = NO_STORE } = options;
  const bounded = { ...options, signal };
  if (layout.subsegmentTracks.length === 0) return readSamples(bounded);
  const open = (lastSubsegment: number) =>
    Array.from({ length: layout.sourceCount }, (_, source): FragmentReader => {
      const list = lists[source]?.open(signal);
      if (list) return lists[0] ? list : copiedFragments(list);
      const openAt = (span: SourceSpan) => openSource(source, span);
      return fileFragments({ layout, source, lastSubsegment, store, parsing: bounded, open: openAt });
    });
  return readSubsegmentsOf({ ...bounded, open });
}

/** The first read of a source for a range of a layout; undefined when the range needs none of its bytes. */
export function findFirstRead(layout: Layout, source: SourceIndex, range: SourceSpan): SourceSpan | undefined {
  const { subsegmentTracks } = layout;
  if (subsegmentTracks.length > 0) {
    const [first, last] = [subsegmentAt(layout, range.first), subsegmentAt(layout, range.last)];
    return first > last
      ? undefined
      : subsegmentsSpan(subsegmentTracks, source, { first, last: Math.min(last, first + 1) });
  }
  return splitAtMedia(layout, range)
    .map((part) => findSourceSpan(layout, source, part))
    .find((span) => span !== undefined);
}

/** The number of the subsegment that an offset is in, or text before it; 0 for the header. */
function subsegmentAt(layout: Layout, offset: number): number {
  for (let { index } = layout.extentAt(offset); index >= 0; index -= 1) {
    const { kind, sourceOffset } = layout.extent(index);
    if (kind === 'subsegment') return sourceOffset;
  }
  return 0;
}

type Bounded = LayoutReadOptions & { readonly signal: AbortSignal };

/** The bytes of a layout without subsegments, with only the bytes of each source that the range needs. */
async function* readSamples({ layout, first, last, signal, openSource }: Bounded): AsyncGenerator<Buffer> {
  const readers: ByteReader[] = [];
  const destroy = () => {
    for (const reader of readers) reader.destroy();
  };
  signal.addEventListener('abort', destroy, { once: true });
  /** A reader for each source that has bytes of a part. */
  const openReaders = (part: SourceSpan): Readers =>
    Array.from({ length: layout.sourceCount }, (_, source) => {
      const span = findSourceSpan(layout, source, part);
      const reader = span && openReader(source, span);
      reader?.catch(() => undefined);
      return reader;
    });
  const openReader = async (source: SourceIndex, span: SourceSpan): Promise<ByteReader> => {
    const reader = await openSource(source, span);
    readers.push(reader);
    if (signal.aborted) reader.destroy();
    reader.readEnd = (position) => (position <= span.last ? span.last + 1 : position + EXTRA_READ_BYTES);
    reader.seek(span.first);
    return reader;
  };
  try {
    const parts = splitAtMedia(layout, { first, last }).map((part) => ({ ...part, readers: openReaders(part) }));
    // The status of the response depends on whether the sources can be opened.
    await Promise.all(parts.flatMap((part) => part.readers));
    for (const part of parts) {
      const content = { parts: () => partsOf(layout, part), isHeld: () => true };
      yield* copyChunks(content, 0, part.last + 1 - part.first);
    }
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}

type Readers = readonly (Promise<ByteReader> | undefined)[];

/** A range of the output. */
interface LayoutPart extends SourceSpan {
  /** By source. */
  readonly readers: Readers;
}

/** Other work gets its turn after so many bytes or milliseconds: a chunk of a source may have the bytes of thousands of extents. */
const TURN = { bytes: 256 * 1024, ms: 20 };

/** Browsers have no `setImmediate`. */
const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });

async function* partsOf(layout: Layout, range: LayoutPart): AsyncGenerator<ContentPart> {
  let [bytes, endsAt] = [0, performance.now() + TURN.ms];
  for (let at = range.first; at <= range.last; ) {
    const extent = layout.extentAt(at);
    const end = Math.min(extent.start + extent.bytes, range.last + 1);
    for await (const part of extentParts(layout, extent, { first: at, end, readers: range.readers })) {
      yield part;
      bytes += 'own' in part ? part.own.length : part.length;
      if (bytes < TURN.bytes && performance.now() < endsAt) continue;
      await nextTurn();
      [bytes, endsAt] = [0, performance.now() + TURN.ms];
    }
    at = end;
  }
}

/** The bytes of an extent from one offset in the output to another, which is excluded. */
async function* extentParts(
  layout: Layout,
  extent: Extent,
  { first, end, readers }: { readonly first: number; readonly end: number; readonly readers: Readers },
): AsyncGenerator<ContentPart> {
  const start = extent.sourceOffset + first - extent.start;
  if (extent.kind === 'own') return yield layout.own.subarray(start, start + end - first);
  const reader = await readers[extent.source];
  if (!reader) throw new Error(`Source ${extent.source} is not open`);
  if (extent.kind === 'samples') yield* passOn(reader, start, end - first);
  else yield { own: await readPage(reader, layout, { extent, first, end }) };
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
