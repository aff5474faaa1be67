import { type PackedRun, runParts } from '../isobmff/index.ts';
import { ARRANGE_PLACE, type Parsing, runTask } from '../tasks/index.ts';
import {
  type FramedPlace,
  type Layout,
  type MuxedPlaceRequest,
  type PlaceFragment,
  placeFragments,
  placeTimes,
  type RunRange,
  type SourceIndex,
} from '../virtual-mp4/index.ts';
import {
  type FragmentSource,
  type PlaceContent,
  type PlacePart,
  passingOn,
  readingOf,
  readPlaces,
} from './place-memory.ts';

/** The fragments of a source, as one stream reads them. */
export interface FragmentReader {
  /** What is made here takes memory. Absent: a file, whose bytes are read as they are needed. */
  readonly places?: FragmentSource;
  /** Opens a file where a fragment begins, unless that is in memory. @throws what opening it throws */
  prepare?(fragment: PlaceFragment): Promise<void>;
  /** @throws what reading the source throws, and UnsupportedMp4 where the fragment is not what its index says */
  take(fragment: PlaceFragment): Promise<TakenFragment>;
}

export interface TakenFragment {
  /** By the tracks of the source. */
  readonly runs: readonly PackedRun[];
  /** The bytes of a run from one offset to another. */
  parts(run: PackedRun, range: RunRange): AsyncIterable<PlacePart> | Iterable<PlacePart>;
  /** @param isPassed as in `PlaceContent`. @default false */
  release(isPassed?: boolean): void;
}

/** The fragments of a source that is made here, in the memory that streams share. */
export const madeFragments = (places: FragmentSource, signal: AbortSignal): FragmentReader => ({
  places,
  async take({ index }) {
    const { place, release } = await places.take(index, signal);
    return { runs: place.runs, release, parts: (run, { first, end }) => runParts(place, run, first, end) };
  },
});

/** The same beside a file, whose bytes take no memory: what is sent with them is copied, so that nothing is held meanwhile. */
export function copiedFragments(places: FragmentSource, signal: AbortSignal): FragmentReader {
  /** Several places may need the same one. */
  let latest: { readonly index: number; readonly copying: Promise<TakenFragment> } | undefined;
  const copy = async (index: number): Promise<TakenFragment> => {
    const permit = await places.acquire(places.bytesOf(index), signal);
    try {
      const { place, release } = await places.take(index, signal);
      const bytes = new Map(place.runs.map((run) => [run, Buffer.concat([...runParts(place, run)])]));
      release();
      const parts: TakenFragment['parts'] = (run, { first, end }) => [bytes.get(run)?.subarray(first, end) ?? NO_BYTES];
      return { runs: place.runs, parts, release: () => undefined };
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

export interface PlaceReadOptions extends Parsing {
  readonly layout: Layout;
  /** Offsets, both included. */
  readonly first: number;
  readonly last: number;
  /** Aborted when nobody reads on. */
  readonly signal: AbortSignal;
  /**
   * By source: places begin with the fragments of the first one.
   * @param lastPlace number of the last place that is read
   */
  readonly open: (lastPlace: number) => readonly FragmentReader[];
}

/**
 * Reads a range of a layout of places: each is arranged from the samples of its fragments.
 * @throws what reading the sources throws, and UnsupportedMp4 where they are not what their indexes say
 */
export async function* readPlacesOf(options: PlaceReadOptions): AsyncGenerator<Buffer> {
  const { layout, first, last, signal, open } = options;
  const places = placeExtents(layout);
  const lastPlace = places.findLastIndex(({ start }) => start <= last);
  const readers = open(lastPlace);

  const make = async (number: number): Promise<PlaceContent> => {
    const wanted = fragmentsOf(layout, number);
    const taking = wanted.map(({ source, fragment }) => readers[source]?.take(fragment));
    try {
      const taken = await Promise.all(taking);
      const find = (source: SourceIndex, index: number) =>
        taken[wanted.findIndex((each) => each.source === source && each.fragment.index === index)];
      const arranging = placeRequest(layout, { number, bytes: places[number]?.bytes ?? 0, find });
      const parts = joinParts(layout, { number, find }, await runTask(ARRANGE_PLACE, arranging, options));
      return {
        async *parts() {
          for (const part of parts) {
            if (Buffer.isBuffer(part)) yield part;
            else yield* part.from.parts(part.run, part.range);
          }
          yield places[number]?.text ?? NO_BYTES;
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

  /** What goes with the samples of the next place, while those of one pass on. */
  const prefetch = (number: number) => {
    for (const { source, fragment } of number <= lastPlace ? fragmentsOf(layout, number) : [])
      if (source > 0) readers[source]?.take(fragment).catch(() => undefined);
  };
  const makeAhead = async (number: number): Promise<PlaceContent> => {
    const made = await make(number);
    prefetch(number + 1);
    return made;
  };
  const bytesOf = (number: number): number =>
    fragmentsOf(layout, number).reduce(
      (sum, { source, fragment }) => sum + (readers[source]?.places?.bytesOf(fragment.index) ?? 0),
      0,
    );

  const firstPlace = Math.max(
    0,
    places.findLastIndex(({ start }) => start <= first),
  );
  // The status of the response depends on whether the sources can be opened.
  if (firstPlace <= lastPlace)
    await Promise.all(
      fragmentsOf(layout, firstPlace).map(({ source, fragment }) => readers[source]?.prepare?.(fragment)),
    );
  const { sourceOffset } = layout.extent(0);
  const header = layout.own.subarray(sourceOffset, sourceOffset + layout.mediaStart);
  const offsets = [...places.map(({ start }) => start), layout.size];
  const memory = readers[0]?.places;
  const reading = memory ? readingOf(memory, { bytesOf, make }, signal) : passingOn(makeAhead);
  yield* readPlaces({ header, offsets, first, last }, reading);
}

interface TakenPlaceFragments {
  /** Of the place. */
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

function placeRequest(
  { placeTracks }: Layout,
  { number, bytes, find }: TakenPlaceFragments & { readonly bytes: number },
): MuxedPlaceRequest {
  const tracks = placeTracks.map((track) => {
    const { source, sourceId, defaults, factor, shift } = track;
    const fragments = placeFragments(track, number).map(({ index, pieces, from, to }) => {
      const run = find(source, index)?.runs.find(({ trackId }) => trackId === sourceId);
      return { pieces, from, to, run };
    });
    return { source, sourceId, defaults, factor, shift, times: placeTimes(track, number), fragments };
  });
  return { bytes, sequence: number + 1, tracks };
}

/** A place in parts, in their order. */
function joinParts(
  { placeTracks }: Layout,
  { number, find }: TakenPlaceFragments,
  { head, tail, ranges }: FramedPlace,
): readonly (Buffer | FragmentBytes)[] {
  const media = placeTracks.flatMap((track, trackIndex) =>
    placeFragments(track, number).flatMap(({ index }, part): FragmentBytes | readonly [] => {
      const from = find(track.source, index);
      const run = from?.runs.find(({ trackId }) => trackId === track.sourceId);
      const range = ranges[trackIndex]?.[part];
      return from && run && range ? { from, run, range } : [];
    }),
  );
  return [head, ...media, tail];
}

const NO_BYTES = Buffer.alloc(0);

/** A place of a layout, and the text behind it. */
interface PlaceExtent {
  /** Offset in the output. */
  readonly start: number;
  /** Without the text. */
  readonly bytes: number;
  readonly text: Buffer;
}

function placeExtents(layout: Layout): readonly PlaceExtent[] {
  const extents = Array.from({ length: layout.count }, (_, index) => layout.extent(index));
  return extents.flatMap(({ kind, start, bytes }, index) => {
    const next = extents[index + 1];
    const text =
      next?.kind === 'own' ? layout.own.subarray(next.sourceOffset, next.sourceOffset + next.bytes) : NO_BYTES;
    return kind === 'place' ? [{ start, bytes, text }] : [];
  });
}

interface WantedFragment {
  readonly source: SourceIndex;
  readonly fragment: PlaceFragment;
  /** The next place needs it, too. */
  readonly isShared: boolean;
}

/** The fragments that a place has samples of, each once. */
export function fragmentsOf({ placeTracks }: Layout, number: number): readonly WantedFragment[] {
  const wanted = placeTracks.flatMap((track) =>
    placeFragments(track, number).map((fragment) => {
      const { index, pieces, to } = fragment;
      return [
        `${track.source} ${index}`,
        { source: track.source, fragment, isShared: to < pieces.length - 1 },
      ] as const;
    }),
  );
  return [...new Map(wanted).values()];
}
