import type { PackedRun } from '../isobmff/index.ts';
import { ARRANGE_SUBSEGMENT, type Parsing, runTask } from '../tasks/index.ts';
import {
  type ArrangedSubsegment,
  fragmentsOfTrack,
  type Layout,
  type PackedList,
  type RunRange,
  type SourceIndex,
  type SubsegmentFragment,
  type SubsegmentRequest,
  subsegmentTimes,
} from '../virtual-mp4/index.ts';
import {
  type ContentPart,
  passingOn,
  readingOf,
  readSubsegments,
  type SegmentMemory,
  type SubsegmentContent,
} from './subsegment-content.ts';

/** A complete list of segments as fragments of samples. They never become MP4 on the way to the MP4 that is sent. */
export interface FragmentSource {
  /** Its tracks, and the index of its fragments. */
  readonly index: PackedList;
  /** Names the list, in the version of each segment. */
  readonly version: string;
  /** Opens it for one stream, which ends with the signal. */
  open(signal: AbortSignal): ListReader;
}

/** The fragments of a source, as one stream reads them. */
export interface FragmentReader {
  /** What the fragments of a list take. Absent: a file, whose bytes are read as they are needed. */
  readonly memory?: FragmentMemory;
  /** Opens a file where a fragment begins, unless that is in memory. @throws what opening it throws */
  prepare?(fragment: SubsegmentFragment): Promise<void>;
  /** @throws what reading the source throws, and UnsupportedMp4 where the fragment is not what its index says */
  take(fragment: SubsegmentFragment): Promise<TakenFragment>;
}

interface FragmentMemory extends SegmentMemory {
  /** Bytes that a fragment takes at most. */
  bytesOf(index: number): number;
}

/** The fragments of a list, which are in memory that streams share until they are released. */
export interface ListReader extends FragmentReader {
  readonly memory: FragmentMemory;
  take(fragment: Pick<SubsegmentFragment, 'index'>): Promise<TakenSegment>;
}

interface TakenSegment extends TakenFragment {
  parts(run: PackedRun, range: RunRange): Iterable<Buffer>;
}

export interface TakenFragment {
  /** By the tracks of the source. */
  readonly runs: readonly PackedRun[];
  /** The bytes of a run from one offset to another. */
  parts(run: PackedRun, range: RunRange): AsyncIterable<ContentPart> | Iterable<ContentPart>;
  /** @param isPassed as in `SubsegmentContent`. @default false */
  release(isPassed?: boolean): void;
}

/** A list beside a file, whose bytes take no memory: what is sent with them is copied, so that nothing is held meanwhile. */
export function copiedFragments(list: ListReader): FragmentReader {
  /** Several subsegments may need the same one. */
  let latest: { readonly index: number; readonly copying: Promise<TakenFragment> } | undefined;
  const copy = async (index: number): Promise<TakenFragment> => {
    const permit = await list.memory.acquire(list.memory.bytesOf(index));
    try {
      const { runs, parts, release } = await list.take({ index });
      const bytes = new Map(runs.map((run) => [run, Buffer.concat([...parts(run, WHOLE_RUN)])]));
      release();
      const copied: TakenFragment['parts'] = (run, { first, end }) => [
        bytes.get(run)?.subarray(first, end) ?? NO_BYTES,
      ];
      return { runs, parts: copied, release: () => undefined };
    } finally {
      permit.release();
    }
  };
  return {
    take({ index }) {
      if (latest?.index !== index) latest = { index, copying: copy(index) };
      return latest.copying;
    },
  };
}

const WHOLE_RUN: RunRange = { first: 0, end: Number.POSITIVE_INFINITY };

export interface SubsegmentReadOptions extends Parsing {
  readonly layout: Layout;
  /** Offsets, both included. */
  readonly first: number;
  readonly last: number;
  /** Aborted when nobody reads on. */
  readonly signal: AbortSignal;
  /**
   * By source: subsegments begin with the fragments of the first one.
   * @param lastSubsegment number of the last subsegment that is read
   */
  readonly open: (lastSubsegment: number) => readonly FragmentReader[];
}

/**
 * Reads a range of a layout of subsegments: each is arranged from the samples of its fragments.
 * @throws what reading the sources throws, and UnsupportedMp4 where they are not what their indexes say
 */
export async function* readSubsegmentsOf(options: SubsegmentReadOptions): AsyncGenerator<Buffer> {
  const { layout, first, last, open } = options;
  const subsegments = subsegmentExtents(layout);
  const lastSubsegment = subsegments.findLastIndex(({ start }) => start <= last);
  const readers = open(lastSubsegment);

  const make = async (number: number): Promise<SubsegmentContent> => {
    const wanted = fragmentsOf(layout, number);
    const taking = wanted.map(({ source, fragment }) => readers[source]?.take(fragment));
    try {
      const taken = await Promise.all(taking);
      const find = (source: SourceIndex, index: number) =>
        taken[wanted.findIndex((each) => each.source === source && each.fragment.index === index)];
      const arranging = subsegmentRequest(layout, { number, bytes: subsegments[number]?.bytes ?? 0, find });
      const parts = joinParts(layout, { number, find }, await runTask(ARRANGE_SUBSEGMENT, arranging, options));
      return {
        async *parts() {
          for (const part of parts) {
            if (Buffer.isBuffer(part)) yield part;
            else yield* part.from.parts(part.run, part.range);
          }
          yield subsegments[number]?.text ?? NO_BYTES;
        },
        release(isPassed) {
          for (const [index, each] of taken.entries()) each?.release(isPassed && !wanted[index]?.isShared);
        },
      };
    } catch (error) {
      for (const each of taking) each?.then(({ release }) => release()).catch(() => undefined);
      throw error;
    }
  };

  /** What goes with the samples of the next subsegment, while those of one pass on. */
  const prefetch = (number: number) => {
    for (const { source, fragment } of number <= lastSubsegment ? fragmentsOf(layout, number) : [])
      if (source > 0) readers[source]?.take(fragment).catch(() => undefined);
  };
  const makeAhead = async (number: number): Promise<SubsegmentContent> => {
    const made = await make(number);
    prefetch(number + 1);
    return made;
  };
  const bytesOf = (number: number): number =>
    fragmentsOf(layout, number).reduce(
      (sum, { source, fragment }) => sum + (readers[source]?.memory?.bytesOf(fragment.index) ?? 0),
      0,
    );

  const firstSubsegment = Math.max(
    0,
    subsegments.findLastIndex(({ start }) => start <= first),
  );
  // The status of the response depends on whether the sources can be opened.
  if (firstSubsegment <= lastSubsegment)
    await Promise.all(
      fragmentsOf(layout, firstSubsegment).map(({ source, fragment }) => readers[source]?.prepare?.(fragment)),
    );
  const { sourceOffset } = layout.extent(0);
  const header = layout.own.subarray(sourceOffset, sourceOffset + layout.mediaStart);
  const offsets = [...subsegments.map(({ start }) => start), layout.size];
  const memory = readers[0]?.memory;
  const reading = memory ? readingOf(memory, { bytesOf, make }) : passingOn(makeAhead);
  yield* readSubsegments({ header, offsets, first, last }, reading);
}

interface TakenFragments {
  /** Of the subsegment. */
  readonly number: number;
  /** Gives a fragment that has been taken. */
  readonly find: (source: SourceIndex, index: number) => TakenFragment | undefined;
}

/** Some bytes of a fragment. */
interface FragmentBytes {
  readonly from: TakenFragment;
  readonly run: PackedRun;
  readonly range: RunRange;
}

function subsegmentRequest(
  { subsegmentTracks }: Layout,
  { number, bytes, find }: TakenFragments & { readonly bytes: number },
): SubsegmentRequest {
  const tracks = subsegmentTracks.map((track) => {
    const { source, sourceId, defaults, factor, shift } = track;
    const fragments = fragmentsOfTrack(track, number).map(({ index, pieces, from, to }) => {
      const run = find(source, index)?.runs.find(({ trackId }) => trackId === sourceId);
      return { pieces, from, to, run };
    });
    return { source, sourceId, defaults, factor, shift, times: subsegmentTimes(track, number), fragments };
  });
  return { bytes, sequence: number + 1, tracks };
}

/** A subsegment in parts, in their order. */
function joinParts(
  { subsegmentTracks }: Layout,
  { number, find }: TakenFragments,
  { head, tail, ranges }: ArrangedSubsegment,
): readonly (Buffer | FragmentBytes)[] {
  const media = subsegmentTracks.flatMap((track, trackIndex) =>
    fragmentsOfTrack(track, number).flatMap(({ index }, part): FragmentBytes | readonly [] => {
      const from = find(track.source, index);
      const run = from?.runs.find(({ trackId }) => trackId === track.sourceId);
      const range = ranges[trackIndex]?.[part];
      return from && run && range ? { from, run, range } : [];
    }),
  );
  return [head, ...media, tail];
}

const NO_BYTES = Buffer.alloc(0);

/** A subsegment of a layout, and the text behind it. */
interface SubsegmentExtent {
  /** Offset in the output. */
  readonly start: number;
  /** Without the text. */
  readonly bytes: number;
  readonly text: Buffer;
}

function subsegmentExtents(layout: Layout): readonly SubsegmentExtent[] {
  const extents = Array.from({ length: layout.count }, (_, index) => layout.extent(index));
  return extents.flatMap(({ kind, start, bytes }, index) => {
    const next = extents[index + 1];
    const text =
      next?.kind === 'own' ? layout.own.subarray(next.sourceOffset, next.sourceOffset + next.bytes) : NO_BYTES;
    return kind === 'subsegment' ? [{ start, bytes, text }] : [];
  });
}

interface WantedFragment {
  readonly source: SourceIndex;
  readonly fragment: SubsegmentFragment;
  /** The next subsegment needs it, too. */
  readonly isShared: boolean;
}

/** The fragments that a subsegment has samples of, each once. */
export function fragmentsOf({ subsegmentTracks }: Layout, number: number): readonly WantedFragment[] {
  const wanted = subsegmentTracks.flatMap((track) =>
    fragmentsOfTrack(track, number).map((fragment) => {
      const { index, pieces, to } = fragment;
      return [
        `${track.source} ${index}`,
        { source: track.source, fragment, isShared: to < pieces.length - 1 },
      ] as const;
    }),
  );
  return [...new Map(wanted).values()];
}
