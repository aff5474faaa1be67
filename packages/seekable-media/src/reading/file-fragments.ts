import type { PackedRun } from '../isobmff/index.ts';
import { type Parsing, READ_FRAGMENT, runTask } from '../tasks/index.ts';
import {
  type Layout,
  type RunRange,
  type SourceIndex,
  type SubsegmentFragment,
  subsegmentsSpan,
} from '../virtual-mp4/index.ts';
import type { BoxReader } from './box-reader.ts';
import { type ByteReader, passOn } from './byte-reader.ts';
import { FillingBuffer } from './filling-buffer.ts';
import { readMoofs } from './movie-fragments.ts';
import type { FragmentReader, TakenFragment } from './subsegments.ts';

/** Where fragments of files are kept for other streams, in the version of the file that this stream reads. */
export interface FragmentStore {
  /** A buffer for a fragment, which may have some of its bytes. @param isForOthers it is kept */
  get(source: SourceIndex, fragment: SubsegmentFragment, isForOthers: boolean): FillingBuffer;
  /** Whether a fragment is there as a whole. */
  has(source: SourceIndex, fragment: SubsegmentFragment): boolean;
  /**
   * To be called before bytes are sent, or added.
   * @param buffer absent: they pass on
   * @throws when another stream has read those of another version
   */
  use(buffer: FillingBuffer | undefined, isAdded: boolean): Promise<void>;
  /** Called with bytes that were read. @param first offset in the source */
  note(source: SourceIndex, first: number, bytes: Buffer): void;
}

/** Nothing is kept. */
export const NO_STORE: FragmentStore = {
  get: (_source, { bytes }) => new FillingBuffer(bytes),
  has: () => false,
  use: async () => undefined,
  note: () => undefined,
};

export interface FileFragmentsOptions {
  readonly layout: Layout;
  readonly source: SourceIndex;
  readonly store: FragmentStore;
  /** Number of the last subsegment that is read. */
  readonly lastSubsegment: number;
  /** Opens the source. @param span that is read first, at least */
  readonly open: (span: { readonly first: number; readonly last: number }) => Promise<ByteReader>;
  readonly parsing: Parsing & { readonly signal: AbortSignal };
}

/** Beyond the range, for the rest of a `moof`. */
const EXTRA_READ_BYTES = 64 * 1024;
/** So many subsegments of a stream are kept: players open a connection for each, and one that reads on needs none of those behind it. */
const KEPT_FRAGMENTS = 2;

/**
 * The fragments of a file with sample tables or an index. Those of the first source pass on as they arrive, once what is kept of a stream
 * for others has been read; those of further ones are read as a whole.
 */
export function fileFragments(options: FileFragmentsOptions): FragmentReader {
  const { layout, source, lastSubsegment, store, open, parsing } = options;
  const tracks = layout.subsegmentTracks.filter((track) => track.source === source);
  const isLead = source === 0 && tracks.length === 1;
  let reader: Promise<ByteReader> | undefined;
  let count = 0;
  /** What has been read has one `moof` in each fragment: a reader that has read it is at the samples. */
  let isSimple = true;
  /** Only one fragment is read at a time. */
  let before: Promise<unknown> = Promise.resolve();

  /** What ends a stream early costs no more than it has read: requests grow with what has been read. */
  const lastByte = subsegmentsSpan(tracks, source, { first: 0, last: lastSubsegment })?.last ?? 0;
  const openAt = async ({ first, bytes }: SubsegmentFragment): Promise<ByteReader> => {
    const opened = await open({ first, last: first + bytes - 1 });
    parsing.signal.addEventListener('abort', () => opened.destroy(), { once: true });
    if (parsing.signal.aborted) opened.destroy();
    opened.readEnd = (position) => (position <= lastByte ? lastByte + 1 : position + EXTRA_READ_BYTES);
    opened.seek(first);
    return opened;
  };
  const readerAt = (fragment: SubsegmentFragment): Promise<ByteReader> => {
    reader ??= openAt(fragment);
    return reader;
  };

  const runsOf = async (fragment: SubsegmentFragment, boxes: BoxReader): Promise<readonly PackedRun[]> => {
    const { first, bytes, moof } = fragment;
    const moofs = moof
      ? [{ bytes: layout.own.subarray(moof.offset, moof.offset + moof.bytes), offset: 0 }]
      : await readMoofs(boxes, { offset: first, bytes });
    isSimple &&= moofs.length === 1;
    return runTask(
      READ_FRAGMENT,
      { first, bytes, moofs, tracks: tracks.map(({ sourceId, defaults }) => ({ sourceId, defaults })) },
      parsing,
    );
  };

  /** A fragment in memory, which is filled as far as it is needed. */
  const keep = async (fragment: SubsegmentFragment, isForOthers: boolean): Promise<TakenFragment> => {
    const { first, bytes } = fragment;
    const buffer = store.get(source, fragment, isForOthers);
    await store.use(buffer, false);
    const advance = async () => {
      await store.use(buffer, true);
      const own = await readerAt(fragment);
      await buffer.appendFrom(own, first + buffer.filled, buffer.missingBytes, (offset, chunk) =>
        store.note(source, offset, chunk),
      );
    };
    const filled = (end: number) => buffer.upTo(end, advance);
    const runs = await runsOf(fragment, memoryReader(first, bytes, filled));
    if (!isLead) await filled(bytes);
    return {
      runs,
      async *parts(run, range) {
        for (const { from, to } of piecesOf(run, range)) {
          for (let at = from; at < to; ) {
            if (buffer.filled <= at) yield NO_BYTES;
            const there = await filled(at + 1);
            yield there.subarray(at, to);
            at = Math.min(to, there.length);
          }
        }
      },
      release: () => undefined,
    };
  };

  /** A fragment that passes on. */
  const pass = async (fragment: SubsegmentFragment): Promise<TakenFragment> => {
    await store.use(undefined, true);
    const own = await readerAt(fragment);
    const runs = await runsOf(fragment, own);
    return {
      runs,
      async *parts(run, range) {
        for (const { from, to } of piecesOf(run, range)) {
          yield* passOn(own, fragment.first + from, to - from, (first, chunk) => store.note(source, first, chunk));
        }
      },
      release: () => undefined,
    };
  };

  return {
    async prepare(fragment) {
      if (!store.has(source, fragment)) await readerAt(fragment);
    },
    take(fragment) {
      count += 1;
      if (isLead && isSimple && count > KEPT_FRAGMENTS) return pass(fragment);
      const taking = before.then(() => keep(fragment, !isLead || count <= KEPT_FRAGMENTS));
      before = taking.catch(() => undefined);
      return taking;
    },
  };
}

const NO_BYTES = Buffer.alloc(0);

/** Where some bytes of a run are in its fragment. */
function* piecesOf({ pieces }: PackedRun, { first, end }: RunRange) {
  let at = 0;
  for (let index = 0; index < pieces.length && at < end; index += 2) {
    const [from = 0, to = 0] = pieces.subarray(index, index + 2);
    const wanted = { from: from + Math.max(0, first - at), to: Math.min(to, from + end - at) };
    at += to - from;
    if (wanted.from < wanted.to) yield wanted;
  }
}

/** Reads a fragment in memory by offsets in its file. @param filled gives its bytes, as many as are asked for at least */
function memoryReader(first: number, bytes: number, filled: (end: number) => Promise<Buffer>): BoxReader {
  let position = first;
  return {
    size: first + bytes,
    seek(offset) {
      position = offset;
    },
    async read(count) {
      const start = position - first;
      position += count;
      return (await filled(start + count)).subarray(start, start + count);
    },
  };
}
