import type { PackedRun } from '@reelay/seekable-media/isobmff';
import {
  type Layout,
  type PlaceFragment,
  placesSpan,
  type RunRange,
  type SourceIndex,
} from '@reelay/seekable-media/virtual-mp4';
import { type Name, nameOf } from '@reelay/source/names';
import type { PlacePart } from '@reelay/source/placed-file';
import { type FragmentReader, fragmentsOf, type TakenFragment } from '@reelay/source/places';
import type { ByteRange } from '@reelay/source/request-headers';
import { type ParsingOptions, parse, READ_FRAGMENT } from '../../../core/parsing/index.ts';
import type { ByteReader } from '../byte-reader.ts';
import { ComputedExtent, type ComputedExtents, type SharedFile } from '../computed-extents.ts';
import type { BoxReader } from './box-reader.ts';
import { readMoofs } from './read-movie-fragments.ts';

export interface FileFragmentsOptions {
  readonly layout: Layout;
  readonly source: SourceIndex;
  /** The layout, in one version of its sources. */
  readonly shared: SharedFile;
  readonly extents: ComputedExtents;
  /** Number of the last place that is read. */
  readonly lastPlace: number;
  /** Opens the source. @param span that is read first, at least */
  readonly open: (span: ByteRange) => Promise<ByteReader>;
  readonly parsing: ParsingOptions & { readonly signal: AbortSignal };
}

/** Beyond the range, for the rest of a `moof`. */
const EXTRA_READ_BYTES = 64 * 1024;
/** Shorter pieces are joined. */
const MIN_OWN_BYTES = 1024;
/** So many places of a stream are kept: players open a connection for each, and one that reads on needs none of those behind it. */
const KEPT_PLACES = 2;

/**
 * The fragments of a file with sample tables or an index. Those of the first source pass on as they arrive, once what is kept of a stream
 * for others has been read; those of further ones are read as a whole.
 */
export function fileFragments(options: FileFragmentsOptions): FragmentReader {
  const { layout, source, lastPlace, shared, extents, open, parsing } = options;
  const tracks = layout.placeTracks.filter((track) => track.source === source);
  const isLead = source === 0 && tracks.length === 1;
  let reader: Promise<ByteReader> | undefined;
  let count = 0;
  /** What has been read has one `moof` in each fragment: a reader that has read it is at the samples. */
  let isSimple = true;
  /** Only one fragment is read at a time. */
  let before: Promise<unknown> = Promise.resolve();

  /** What ends a stream early costs no more than it has read: requests grow with what has been read. */
  const lastByte = placesSpan(tracks, source, { first: 0, last: lastPlace })?.last ?? 0;
  const openAt = async ({ first, bytes }: PlaceFragment): Promise<ByteReader> => {
    const opened = await open({ first, last: first + bytes - 1 });
    parsing.signal.addEventListener('abort', () => opened.destroy(), { once: true });
    if (parsing.signal.aborted) opened.destroy();
    opened.readEnd = (position) => (position <= lastByte ? lastByte + 1 : position + EXTRA_READ_BYTES);
    opened.seek(first);
    return opened;
  };
  const readerAt = (fragment: PlaceFragment): Promise<ByteReader> => {
    reader ??= openAt(fragment);
    return reader;
  };

  const runsOf = async (fragment: PlaceFragment, boxes: BoxReader): Promise<readonly PackedRun[]> => {
    const { first, bytes, moof } = fragment;
    const moofs = moof
      ? [{ bytes: layout.own.subarray(moof.offset, moof.offset + moof.bytes), offset: 0 }]
      : await readMoofs(boxes, { offset: first, bytes });
    isSimple &&= moofs.length === 1;
    return parse(
      READ_FRAGMENT,
      { first, bytes, moofs, tracks: tracks.map(({ sourceId, defaults }) => ({ sourceId, defaults })) },
      parsing,
    );
  };

  /** A fragment in memory, which is filled as far as it is needed. */
  const keep = async (fragment: PlaceFragment, isForOthers: boolean): Promise<TakenFragment> => {
    const { first, bytes } = fragment;
    const extent = isForOthers
      ? extents.get(fragmentName(shared, source, fragment), bytes, shared.reading)
      : new ComputedExtent(bytes, shared.reading);
    await shared.use(extent);
    const advance = async () => {
      await shared.use(extent, true);
      const own = await readerAt(fragment);
      await extent.appendFrom(own, first + extent.filled, extent.missingBytes, (offset, chunk) =>
        shared.note(source, offset, chunk),
      );
    };
    const filled = (end: number) => extent.upTo(end, advance);
    const runs = await runsOf(fragment, memoryReader(first, bytes, filled));
    if (!isLead) await filled(bytes);
    return {
      runs,
      async *parts(run, range) {
        for (const { from, to } of piecesOf(run, range)) {
          for (let at = from; at < to; ) {
            if (extent.filled <= at) yield NO_BYTES;
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
  const pass = async (fragment: PlaceFragment): Promise<TakenFragment> => {
    await shared.use(shared, true);
    const own = await readerAt(fragment);
    const runs = await runsOf(fragment, own);
    return {
      runs,
      async *parts(run, range): AsyncGenerator<PlacePart> {
        for (const { from, to } of piecesOf(run, range)) {
          own.seek(fragment.first + from);
          for (let left = to - from; left > 0; ) {
            const chunk = own.take(left);
            if (chunk) {
              shared.note(source, fragment.first + to - left, chunk);
              left -= chunk.length;
              // A hostile file has many samples of one byte each.
              yield chunk.length < MIN_OWN_BYTES ? chunk : { own: chunk };
            } else {
              yield NO_BYTES;
              await own.ready();
            }
          }
        }
      },
      release: () => undefined,
    };
  };

  return {
    async prepare(fragment) {
      if (!extents.complete(fragmentName(shared, source, fragment))) await readerAt(fragment);
    },
    take(fragment) {
      count += 1;
      if (isLead && isSimple && count > KEPT_PLACES) return pass(fragment);
      const taking = before.then(() => keep(fragment, !isLead || count <= KEPT_PLACES));
      before = taking.catch(() => undefined);
      return taking;
    },
  };
}

/** The name of a fragment in memory. */
const fragmentName = ({ name }: Pick<SharedFile, 'name'>, source: SourceIndex, { index }: PlaceFragment): Name =>
  nameOf([name], 'fragment', [source, index]);

/** What tells whether fragments are in memory. */
interface KeptFragments extends Pick<FileFragmentsOptions, 'layout' | 'shared' | 'extents'> {
  /** Whether a source is a list of segments. */
  readonly isList: (source: SourceIndex) => boolean;
}

/** Whether the fragments of files that a place needs are in memory. */
export const isPlaceKept = (number: number, { layout, shared, extents, isList }: KeptFragments): boolean =>
  fragmentsOf(layout, number).every(
    ({ source, fragment }) => isList(source) || extents.complete(fragmentName(shared, source, fragment)),
  );

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
