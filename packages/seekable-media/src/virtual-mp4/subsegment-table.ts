import type { SourceIndex } from './layout-source.ts';

/** A part of a fragment that belongs to one subsegment. */
export interface Piece {
  /** Samples that end later belong to the next piece, in units of the track. Infinite for the last one. */
  readonly until: number;
  /** Bytes reserved for it in its subsegment. */
  readonly budget: number;
}

/** What is known of the samples of a track before they are read. */
export interface SubsegmentTrackFacts {
  readonly source: SourceIndex;
  /** Track id in the source, and 16 bytes of its `trex`. */
  readonly sourceId: number;
  readonly defaults: Buffer;
  /** Units of the output for one of the track, and those that are added to the decode time. */
  readonly factor: number;
  readonly shift: number;
}

/** A track of the subsegments of a layout, in a form that can be cloned fast. */
export interface PackedSubsegmentTrack extends SubsegmentTrackFacts {
  /** By fragment: offset and bytes in the source, offset and bytes of its `moof` in the layout's own bytes (0 bytes: in the source). */
  readonly fragments: Float64Array;
  /** By fragment: the index of its first piece; one more for the end. */
  readonly firstPieces: Uint32Array;
  /** By piece: `until` and `budget`. */
  readonly pieces: Float64Array;
  /** By subsegment: the index of its first piece; one more for the end. */
  readonly subsegments: Uint32Array;
  /** By subsegment, of the track by whose fragments subsegments begin: when its first sample is decoded, in units of the output. */
  readonly times: Float64Array;
}

const FRAGMENT_FIELDS = 4;
const PIECE_FIELDS = 2;

/** When a subsegment begins, and the next one; infinite: there is none. In units of the output. */
export interface SubsegmentTimes {
  readonly start: number;
  readonly end: number;
}

/** Undefined for a track that is not the one by which subsegments begin. */
export function subsegmentTimes({ times }: PackedSubsegmentTrack, subsegment: number): SubsegmentTimes | undefined {
  const start = times[subsegment];
  return start === undefined ? undefined : { start, end: times[subsegment + 1] ?? Number.POSITIVE_INFINITY };
}

/** Bytes of memory. */
export const subsegmentTrackBytes = ({
  fragments,
  firstPieces,
  pieces,
  subsegments,
  times,
}: PackedSubsegmentTrack): number =>
  fragments.byteLength + firstPieces.byteLength + pieces.byteLength + subsegments.byteLength + times.byteLength;

/** A fragment of which a subsegment has samples. */
export interface SubsegmentFragment {
  readonly index: number;
  readonly first: number;
  readonly bytes: number;
  /** In the layout's own bytes; undefined: the source has it. */
  readonly moof: { readonly offset: number; readonly bytes: number } | undefined;
  /** All pieces of the fragment, and those that the subsegment has: from one to another, both included. */
  readonly pieces: readonly Piece[];
  readonly from: number;
  readonly to: number;
}

/** The fragments of which a subsegment has samples, in order; there may be none. */
export function fragmentsOfTrack(track: PackedSubsegmentTrack, subsegment: number): readonly SubsegmentFragment[] {
  const { fragments, firstPieces, pieces, subsegments } = track;
  const found: SubsegmentFragment[] = [];
  const end = subsegments[subsegment + 1] ?? 0;
  for (let piece = subsegments[subsegment] ?? 0; piece < end; ) {
    const index = fragmentOf(firstPieces, piece);
    const [first, next] = [firstPieces[index] ?? 0, firstPieces[index + 1] ?? 0];
    const [offset = 0, bytes = 0, moofOffset = 0, moofBytes = 0] = fragments.subarray(
      index * FRAGMENT_FIELDS,
      (index + 1) * FRAGMENT_FIELDS,
    );
    found.push({
      index,
      first: offset,
      bytes,
      moof: moofBytes > 0 ? { offset: moofOffset, bytes: moofBytes } : undefined,
      pieces: Array.from({ length: next - first }, (_, at) => {
        const [until = 0, budget = 0] = pieces.subarray((first + at) * PIECE_FIELDS, (first + at + 1) * PIECE_FIELDS);
        return { until, budget };
      }),
      from: piece - first,
      to: Math.min(end, next) - 1 - first,
    });
    piece = next;
  }
  return found;
}

/** The fragment that has a piece: the last one whose first piece is not after it. */
function fragmentOf(firstPieces: Uint32Array, piece: number): number {
  let low = 0;
  for (let high = firstPieces.length - 2; low < high; ) {
    const middle = Math.ceil((low + high) / 2);
    if ((firstPieces[middle] ?? 0) <= piece) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Where the fragments of a source are that some subsegments need, as one span; undefined when they need none.
 * @param last index of the last subsegment, included
 */
export function subsegmentsSpan(
  tracks: readonly PackedSubsegmentTrack[],
  source: SourceIndex,
  { first, last }: { readonly first: number; readonly last: number },
): { readonly first: number; readonly last: number } | undefined {
  const spans = tracks
    .filter((track) => track.source === source)
    .flatMap((track) => {
      const { subsegments, pieces } = track;
      const [from, to] = [subsegments[first] ?? 0, (subsegments[last + 1] ?? 0) - 1];
      if (to < from || pieces.length === 0) return [];
      const at = (piece: number) => fragmentOf(track.firstPieces, piece) * FRAGMENT_FIELDS;
      const end = (track.fragments[at(to)] ?? 0) + (track.fragments[at(to) + 1] ?? 0);
      return [{ first: track.fragments[at(from)] ?? 0, last: end - 1 }];
    });
  if (spans.length === 0) return undefined;
  return { first: Math.min(...spans.map((span) => span.first)), last: Math.max(...spans.map((span) => span.last)) };
}
