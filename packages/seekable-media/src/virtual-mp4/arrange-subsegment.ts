import {
  countRunSamples,
  indexBox,
  type MovieFragment,
  measureSubsegment,
  moveRun,
  type PackedRun,
  packSamples,
  parseFragmentSamples,
  type Sample,
  type TrackRun,
  UnsupportedMp4,
  unpackSamples,
  writeSubsegmentBoxes,
} from '../isobmff/index.ts';
import type { Piece, SubsegmentTimes, SubsegmentTrackFacts } from './subsegment-table.ts';

/** A fragment of a file, of which its `moof` boxes are known. */
export interface FragmentRequest {
  /** Where it is in its file. */
  readonly first: number;
  readonly bytes: number;
  readonly moofs: readonly MovieFragment[];
  readonly tracks: readonly Pick<SubsegmentTrackFacts, 'sourceId' | 'defaults'>[];
}

/** Bytes of a sample while it is arranged, roughly. */
const SAMPLE_BYTES = 16;

/** Bytes of the `moof` boxes, and of the samples that they declare: those without fields of their own take no bytes there. */
export const weighFragment = ({ moofs }: FragmentRequest): number =>
  moofs.reduce((sum, { bytes }) => sum + bytes.length + countRunSamples(bytes) * SAMPLE_BYTES, 0);

/**
 * The samples of tracks in a fragment, with the ids that the tracks have there. Their memory is that of the fragment.
 * @returns without the tracks that have none
 * @throws UnsupportedMp4 when they are not within the fragment
 */
export function readFragmentRuns({ first, bytes, moofs, tracks }: FragmentRequest): readonly PackedRun[] {
  if (moofs.length === 0) throw new UnsupportedMp4('A fragment without moof');
  requireTrack(moofs, new Set(tracks.map(({ sourceId }) => sourceId)));
  return tracks.flatMap(({ sourceId, defaults }) => {
    const samples = moofs.flatMap((moof) => [...parseFragmentSamples(moof, sourceId, defaults)]);
    const [start] = samples;
    if (!start) return [];
    if (samples.some(({ description }) => description !== start.description))
      throw new UnsupportedMp4('Two descriptions in a subsegment');
    const pieces: number[] = [];
    for (const { offset, size } of samples) {
      const at = offset - first;
      if (at < 0 || at + size > bytes) throw new UnsupportedMp4('Samples outside of their fragment');
      if (pieces.at(-1) !== at) pieces.push(at, at);
      pieces[pieces.length - 1] = at + size;
    }
    const { decodeTime, description } = start;
    const timed = samples.map((sample, index) => ({ ...sample, duration: durationIn(sample, samples[index + 1]) }));
    const packed = packSamples(timed);
    return [
      { trackId: sourceId, decodeTime, description, samples: packed, memory: 0, pieces: Uint32Array.from(pieces) },
    ];
  });
}

/** A `moof` with none of the tracks would be left out without notice. */
function requireTrack(moofs: readonly MovieFragment[], ids: ReadonlySet<number>): void {
  for (const { bytes } of moofs) {
    const trafs = indexBox(bytes)?.children.filter(({ type }) => type === 'traf') ?? [];
    if (!trafs.some((traf) => ids.has(bytes.readUInt32BE(traf.require('tfhd', 8).content + 4))))
      throw new UnsupportedMp4('A moof without the track');
  }
}

/** A sample lasts until the next one: where fragments do not follow each other, longer or shorter than it says. */
function durationIn(
  { decodeTime, duration }: Pick<Sample, 'decodeTime' | 'duration'>,
  next: Timed | undefined,
): number {
  if (!next || next.decodeTime === decodeTime + duration) return duration;
  if (next.decodeTime < decodeTime) throw new UnsupportedMp4('Fragments overlap');
  return next.decodeTime - decodeTime;
}

type Timed = Pick<Sample, 'decodeTime'>;

/** What the media of a subsegment is made of. */
export interface SubsegmentRequest {
  readonly bytes: number;
  readonly sequence: number;
  /** In the order of the output; track ids count from 1. */
  readonly tracks: readonly SubsegmentTrackRequest[];
}

interface SubsegmentTrackRequest extends SubsegmentTrackFacts {
  /** The fragments whose samples the subsegment has, in order. */
  readonly fragments: readonly FragmentPart[];
  /** Of the video. */
  readonly times?: SubsegmentTimes | undefined;
}

/** A part of a fragment. */
interface FragmentPart {
  /** All samples of the track in the fragment. Undefined: it has none. */
  readonly run: PackedRun | undefined;
  /** All pieces of the fragment, and those that the subsegment has: from one to another, both included. */
  readonly pieces: readonly Piece[];
  readonly from: number;
  readonly to: number;
}

/** A subsegment, whose samples stay where they are. */
export interface ArrangedSubsegment {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** By track, by fragment: which bytes of its run the subsegment has. */
  readonly ranges: readonly (readonly RunRange[])[];
}

/** Offsets in the bytes of a run, `end` excluded. */
export interface RunRange {
  readonly first: number;
  readonly end: number;
}

type Run = Omit<TrackRun, 'data'>;

/** Bytes of the samples from which a subsegment is made. */
export const weighSubsegment = ({ tracks }: SubsegmentRequest): number =>
  tracks
    .flatMap(({ fragments }) => fragments)
    .reduce((sum, { run }) => sum + (run?.samples.byteLength ?? 0) + (run?.pieces.byteLength ?? 0), 0);

/** @throws UnsupportedMp4 when the samples are not what the index said, or do not fit the subsegment */
export function arrangeSubsegment({ bytes, sequence, tracks }: SubsegmentRequest): ArrangedSubsegment {
  const selected = tracks.map((track, index) => selectSamples(track, index + 1));
  const runs = selected.map(({ run }) => run);
  const placed = moveToTimes(runs, tracks, bytes);
  const fitting = measureSubsegment(placed) > bytes ? placed.map(withEvenEnd) : placed;
  const { head, tail } = writeSubsegmentBoxes(bytes, sequence, fitting);
  return { head, tail, ranges: selected.map(({ ranges }) => ranges) };
}

/** A run whose last sample lasts as long as the others, if these are alike: otherwise each sample has a field for that. */
function withEvenEnd(run: Run): Run {
  const [first] = run.samples;
  const last = run.samples.at(-1);
  if (!first || !last || run.samples.some((each) => each !== last && each.duration !== first.duration)) return run;
  return { ...run, samples: [...run.samples.slice(0, -1), { ...last, duration: first.duration }] };
}

/** The runs at the times of their subsegment, by which players look for either track, if they still fit it. */
function moveToTimes(runs: readonly Run[], tracks: readonly SubsegmentTrackRequest[], bytes: number): readonly Run[] {
  const moved = runs.map((run, index) => {
    const { times, factor = 1 } = tracks[index] ?? {};
    return times && run.samples.length > 0 ? moveRun(run, { ...times, step: factor }) : run;
  });
  const isSame = moved.every((run, index) => run === runs[index]);
  return isSame || measureSubsegment(moved) > bytes ? runs : moved;
}

/** The samples of a track that a subsegment has, and which bytes of their runs. */
function selectSamples(
  { fragments, factor, shift }: SubsegmentTrackRequest,
  trackId: number,
): { readonly run: Run; readonly ranges: readonly RunRange[] } {
  const samples: TimedSample[] = [];
  let description: number | undefined;
  const ranges = fragments.map(({ run, pieces, from, to }): RunRange => {
    if (!run) return { first: 0, end: 0 };
    const all = timeSamples(run);
    const ends = cutPieces(all, pieces);
    const [start, end] = [ends[from - 1] ?? 0, ends[to] ?? all.length];
    const wanted = all.slice(start, end);
    const first = bytesOf(all.slice(0, start));
    if (wanted.length > 0) {
      description ??= run.description;
      if (run.description !== description) throw new UnsupportedMp4('Two descriptions in a subsegment');
    }
    for (const sample of wanted) samples.push(sample);
    return { first, end: first + bytesOf(wanted) };
  });
  const scaled = samples.map((sample, index) => ({
    ...sample,
    duration: durationIn(sample, samples[index + 1]) * factor,
    compositionOffset: sample.compositionOffset * factor,
  }));
  const decodeTime = (samples[0]?.decodeTime ?? 0) * factor + shift;
  return { ranges, run: { trackId, decodeTime, description: description ?? 1, samples: scaled } };
}

type TimedSample = Omit<Sample, 'offset' | 'description'>;

const bytesOf = (samples: readonly Pick<Sample, 'size'>[]): number => samples.reduce((sum, { size }) => sum + size, 0);

function timeSamples(run: PackedRun): readonly TimedSample[] {
  let next = run.decodeTime;
  return unpackSamples(run).map((sample) => {
    const decodeTime = next;
    next += sample.duration;
    return { ...sample, decodeTime };
  });
}

/**
 * Where the samples of a fragment are cut: at the times of its pieces, but where a budget does not suffice, at the next sample that
 * fits; only where the last ones need more than is left, earlier.
 * @returns for each piece the index after its last sample
 */
function cutPieces(samples: readonly TimedSample[], pieces: readonly Piece[]): readonly number[] {
  const rowBytes = 4 * countFields(samples);
  const sums = [0];
  for (const { size } of samples) sums.push((sums.at(-1) ?? 0) + size + rowBytes);
  const sumOf = (from: number, to: number) => (sums[to] ?? 0) - (sums[from] ?? 0);
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
    while (end > start && sumOf(start, end) > budgetOf(piece)) end -= 1;
    ends[piece] = end;
  }
  for (let piece = pieces.length - 1; piece > 0; piece -= 1) {
    const end = ends[piece] ?? 0;
    let start = startOf(piece);
    while (start < end && sumOf(start, end) > budgetOf(piece)) start += 1;
    ends[piece - 1] = start;
  }
  return ends;
}

/** How many fields the samples have in a `trun`. */
function countFields(samples: readonly TimedSample[]): number {
  const [first, second] = samples;
  const differs = (isOther: (sample: TimedSample, index: number) => boolean) => Number(samples.some(isOther));
  return (
    differs(({ duration }) => duration !== first?.duration) +
    differs(({ size }) => size !== first?.size) +
    differs(({ isSync }, index) => index > 1 && isSync !== second?.isSync) +
    differs(({ compositionOffset }) => compositionOffset !== 0)
  );
}
