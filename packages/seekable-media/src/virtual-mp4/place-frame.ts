import {
  type ByteSpan,
  countRunSamples,
  framePlace,
  indexBox,
  type MovieFragment,
  measurePlace,
  moveRun,
  type PackedRun,
  type PlaceRun,
  parseFragmentSamples,
  type Sample,
  UnsupportedMp4,
  unpackSamples,
} from '../isobmff/index.ts';
import type { Piece, PlaceTimes, PlaceTrackFacts } from './place-table.ts';

/** What the media of a place is made of. */
export interface MuxedPlaceRequest {
  readonly bytes: number;
  readonly sequence: number;
  /** In the order of the output; track ids count from 1. */
  readonly tracks: readonly PlaceTrackRequest[];
}

export interface PlaceTrackRequest extends PlaceTrackFacts {
  /** The fragments whose samples the place has, in order. */
  readonly fragments: readonly ReadFragment[];
  /** Of the video. */
  readonly times?: PlaceTimes | undefined;
}

/** A fragment whose samples are known: by its `moof` boxes, or in memory. */
export interface ReadFragment extends ByteSpan {
  readonly moofs: readonly MovieFragment[];
  /** In place of its boxes; their bytes follow each other from `first` on. Undefined: it has boxes. Null: it has no samples of the track. */
  readonly run?: PackedRun | null | undefined;
  /** All pieces of the fragment, and those that the place has: from one to another, both included. */
  readonly pieces: readonly Piece[];
  readonly from: number;
  readonly to: number;
}

/** A place, whose samples stay where they are in their sources. */
export interface FramedPlace {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** By track: where its samples are in its source, in order. */
  readonly spans: readonly (readonly ByteSpan[])[];
}

type Run = Omit<PlaceRun, 'data'>;

/** The samples of a track that a place has. */
interface Selection {
  readonly run: Run;
  readonly spans: readonly ByteSpan[];
}

/** Bytes of the `moof` boxes, and of the samples that they declare: those without fields of their own take no bytes there. */
export const weighMuxedPlace = ({ tracks }: MuxedPlaceRequest): number =>
  tracks
    .flatMap(({ fragments }) => fragments)
    .reduce((sum, { moofs, run }) => sum + weighMoofs(moofs) + (run?.samples.byteLength ?? 0), 0);

const weighMoofs = (moofs: readonly MovieFragment[]): number =>
  moofs.reduce((sum, { bytes }) => sum + bytes.length + countRunSamples(bytes) * SAMPLE_BYTES, 0);

/** Bytes of a sample while it is arranged, roughly. */
const SAMPLE_BYTES = 16;

/** @throws UnsupportedMp4 when the samples are not what the index said, or do not fit the place */
export function arrangeMuxedPlace({ bytes, sequence, tracks }: MuxedPlaceRequest): FramedPlace {
  for (const group of Map.groupBy(tracks, ({ source }) => source).values()) requireTrack(group);
  const selected = tracks.map((track, index) => selectSamples(track, index + 1));
  const runs = selected.map(({ run }) => run);
  const placed = moveToTimes(runs, tracks, bytes);
  const fitting = measurePlace(placed) > bytes ? placed.map(withEvenEnd) : placed;
  const { head, tail } = framePlace(bytes, sequence, fitting);
  return { head, tail, spans: selected.map(({ spans }) => spans) };
}

/** A run whose last sample lasts as long as the others, if these are alike: otherwise each sample has a field for that. */
function withEvenEnd(run: Run): Run {
  const [first] = run.samples;
  const last = run.samples.at(-1);
  if (!first || !last || run.samples.some((each) => each !== last && each.duration !== first.duration)) return run;
  return { ...run, samples: [...run.samples.slice(0, -1), { ...last, duration: first.duration }] };
}

/** The runs at the times of their place, by which players look for either track, if they still fit it. */
function moveToTimes(runs: readonly Run[], tracks: readonly PlaceTrackRequest[], bytes: number): readonly Run[] {
  const moved = runs.map((run, index) => {
    const { times, factor = 1 } = tracks[index] ?? {};
    return times && run.samples.length > 0 ? moveRun(run, { ...times, step: factor }) : run;
  });
  const isSame = moved.every((run, index) => run === runs[index]);
  return isSame || measurePlace(moved) > bytes ? runs : moved;
}

/** A `moof` with none of the tracks would be left out without notice. @param tracks of one source, which may have others */
function requireTrack(tracks: readonly PlaceTrackRequest[]): void {
  const ids = new Set(tracks.map(({ sourceId }) => sourceId));
  const moofs = tracks.flatMap(({ fragments }) => fragments.flatMap((fragment) => fragment.moofs));
  for (const { bytes } of moofs) {
    const trafs = indexBox(bytes)?.children.filter(({ type }) => type === 'traf') ?? [];
    if (!trafs.some((traf) => ids.has(bytes.readUInt32BE(traf.require('tfhd', 8).content + 4))))
      throw new UnsupportedMp4('A moof without the track');
  }
}

function selectSamples(
  { fragments, sourceId, defaults, factor, shift }: PlaceTrackRequest,
  trackId: number,
): Selection {
  const samples: Sample[] = [];
  const spans: { first: number; bytes: number }[] = [];
  for (const { first, bytes, moofs, run, pieces, from, to } of fragments) {
    if (run === undefined && moofs.length === 0) throw new UnsupportedMp4('A fragment without moof');
    const all =
      run === undefined
        ? moofs.flatMap((moof) => [...parseFragmentSamples(moof, sourceId, defaults)])
        : samplesOf(run, first);
    const ends = cutPieces(all, pieces);
    // A span does not continue in the next fragment, which is read by itself.
    let last: { first: number; bytes: number } | undefined;
    for (const sample of all.slice(ends[from - 1] ?? 0, ends[to])) {
      const { offset, size } = sample;
      if (offset < first || offset + size > first + bytes)
        throw new UnsupportedMp4('Samples outside of their fragment');
      if (last && last.first + last.bytes === offset) last.bytes += size;
      else if (size > 0) {
        last = { first: offset, bytes: size };
        spans.push(last);
      }
      samples.push(sample);
    }
  }
  const [start] = samples;
  if (samples.some(({ description }) => description !== start?.description))
    throw new UnsupportedMp4('Two descriptions in a place');
  const scaled = samples.map((sample, index) => ({
    ...sample,
    duration: durationIn(sample, samples[index + 1]) * factor,
    compositionOffset: sample.compositionOffset * factor,
  }));
  const decodeTime = (start?.decodeTime ?? 0) * factor + shift;
  return { spans, run: { trackId, decodeTime, description: start?.description ?? 1, samples: scaled } };
}

/** Samples in memory, as those of a file in which they begin at an offset. */
function samplesOf(run: PackedRun | null, first: number): readonly Sample[] {
  if (!run) return [];
  let [offset, decodeTime] = [first, run.decodeTime];
  return unpackSamples(run).map((sample) => {
    const located = { ...sample, offset, decodeTime, description: run.description };
    offset += sample.size;
    decodeTime += sample.duration;
    return located;
  });
}

/** A sample lasts until the next one: where fragments do not follow each other, longer or shorter than it says. */
function durationIn({ decodeTime, duration }: Sample, next: Sample | undefined): number {
  if (!next || next.decodeTime === decodeTime + duration) return duration;
  if (next.decodeTime < decodeTime) throw new UnsupportedMp4('Fragments overlap');
  return next.decodeTime - decodeTime;
}

/**
 * Where the samples of a fragment are cut: at the times of its pieces, but where a budget does not suffice, at the next sample that
 * fits; only where the last ones need more than is left, earlier.
 * @returns for each piece the index after its last sample
 */
function cutPieces(samples: readonly Sample[], pieces: readonly Piece[]): readonly number[] {
  const rowBytes = 4 * countFields(samples);
  const sums = [0];
  for (const { size } of samples) sums.push((sums.at(-1) ?? 0) + size + rowBytes);
  const bytesOf = (from: number, to: number) => (sums[to] ?? 0) - (sums[from] ?? 0);
  const budgetOf = (piece: number) => pieces[piece]?.budget ?? 0;
  let next = 0;
  const ends = pieces.map(({ until }) => {
    for (let sample = samples[next]; sample; sample = samples[++next])
      // The sample that is heard at the limit belongs to the next piece: a seek to the limit finds it.
      if (sample.decodeTime + sample.duration > until) break;
    return next;
  });
  const startOf = (piece: number) => ends[piece - 1] ?? 0;
  for (let piece = 0; piece < pieces.length - 1; piece += 1) {
    const start = startOf(piece);
    let end = Math.max(start, ends[piece] ?? 0);
    while (end > start && bytesOf(start, end) > budgetOf(piece)) end -= 1;
    ends[piece] = end;
  }
  for (let piece = pieces.length - 1; piece > 0; piece -= 1) {
    const end = ends[piece] ?? 0;
    let start = startOf(piece);
    while (start < end && bytesOf(start, end) > budgetOf(piece)) start += 1;
    ends[piece - 1] = start;
  }
  return ends;
}

/** How many fields the samples have in a `trun`. */
function countFields(samples: readonly Sample[]): number {
  const [first, second] = samples;
  const differs = (isOther: (sample: Sample, index: number) => boolean) => Number(samples.some(isOther));
  return (
    differs(({ duration }) => duration !== first?.duration) +
    differs(({ size }) => size !== first?.size) +
    differs(({ isSync }, index) => index > 1 && isSync !== second?.isSync) +
    differs(({ compositionOffset }) => compositionOffset !== 0)
  );
}
