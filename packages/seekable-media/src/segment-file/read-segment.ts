import {
  allocateSegment,
  type FragmentSamples,
  type HandlerType,
  measureSubsegment,
  moveRun,
  packRuns,
  type TrackRun,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { type SegmentFormatName, segmentFormat } from './formats.ts';
import { type Encoding, isHardlyLate, TooManyPieces } from './segment-format.ts';
import { differenceOf, entriesOf, kindsOf, needsSets, type SegmentTable, type TableEntry } from './segment-table.ts';

/** By which the time of a segment may differ from what its first bytes, or its list, had said. */
const MAX_LATE_SECONDS = 0.25;

/** What the samples of a segment are read from, in a form that can be cloned. */
export interface SegmentRequest {
  readonly format: SegmentFormatName;
  readonly encoding: Encoding;
  /** As in `SegmentFormat.read`. */
  readonly hasSets: boolean;
  /** The tracks of the file, the main one first, each with the index of the sample description that the encoding has there. */
  readonly tracks: readonly { readonly kind: HandlerType; readonly description: number }[];
  readonly timescale: number;
  /** Units: when the main track begins, after the first sample of the list is shown or heard. */
  readonly time: number;
  /** That its samples take at most. */
  readonly bytes: number;
  /** Units: when the main track has to begin in the segment, exactly in a format with the times of its file. Absent: at any time. */
  readonly sourceTime: number | undefined;
  /** Units: when the next segment begins, on another clock. Absent: on the same one, or there is none. */
  readonly endTime: number | undefined;
  /** Decrypted, in parts of any size. */
  readonly segment: readonly Buffer[];
}

const bytesOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

function join(parts: readonly Buffer[]): Buffer {
  const joined = allocateSegment(bytesOf(parts));
  let at = 0;
  for (const part of parts) at += part.copy(joined, at);
  return joined;
}

/** @param index of the segment among those with media */
export function segmentRequest(table: SegmentTable, index: number, segment: readonly Buffer[]): SegmentRequest {
  const entry = table.entries[index];
  const encoding = entry && table.encodings[entry.encoding];
  if (!encoding) throw new RangeError(`No segment ${index}`);
  const { format, timescale, encodings, startTime } = table;
  const tracks = kindsOf(table).map((kind) => {
    const { sampleEntry } = encoding.tracks.find((track) => track.kind === kind) ?? {};
    const entries = entriesOf(encodings, kind);
    return { kind, description: sampleEntry ? entries.findIndex((entry) => entry.equals(sampleEntry)) + 1 : 1 };
  });
  const next = table.entries[index + 1];
  const lateness = ({ time, clock = Number.NaN }: TableEntry) => time - clock;
  const endTime = next && Math.abs(lateness(next) - lateness(entry)) > 0 ? next.time - startTime : undefined;
  const sourceTime = segmentFormat(format).hasFileTimes ? entry.time : entry.clock;
  return {
    format,
    encoding,
    hasSets: needsSets(encodings),
    tracks,
    timescale,
    time: entry.time - startTime,
    sourceTime,
    bytes: entry.bytes,
    endTime,
    segment,
  };
}

/** A run, and units of the file for one of its track. */
interface SteppedRun extends TrackRun {
  readonly step: number;
}

/**
 * The samples of a segment at their times in the file.
 * @param maxPieces as in `SegmentFormat.read`
 * @throws UnsupportedMp4 when the segment is not what its first bytes had said, or needs more bytes; TooManyPieces
 */
export function readSegmentSamples(request: SegmentRequest, maxPieces?: number): FragmentSamples {
  const { format, encoding, hasSets, tracks, timescale, time, sourceTime, endTime, bytes, segment } = request;
  const { read, hasFileTimes, clockSeconds = Number.POSITIVE_INFINITY } = segmentFormat(format);
  const joined = join(segment);
  const runs = read(joined, encoding, maxPieces, hasSets);
  const factors = new Map(encoding.tracks.map((track) => [track.kind, timescale / track.timescale]));
  const factorOf = (kind: HandlerType) => factors.get(kind) ?? 1;
  const [main] = runs;
  if (!main && !hasFileTimes) return { runs: [], memory: [] };
  if (!main) throw new UnsupportedMp4('A segment without samples');
  const shift = time - main.decodeTime * factorOf(main.kind);
  const late = sourceTime === undefined ? 0 : differenceOf(time - shift, sourceTime, clockSeconds * timescale);
  if (hasFileTimes ? late !== 0 || !main.samples[0]?.isSync : Math.abs(late) > MAX_LATE_SECONDS * timescale)
    throw new UnsupportedMp4('A segment that begins at another time than its file says');
  const placed = tracks.flatMap(({ kind, description }, index): readonly SteppedRun[] => {
    const run = runs.find((each) => each.kind === kind);
    if (!run) return [];
    const factor = factorOf(kind);
    const samples =
      factor === 1
        ? run.samples
        : run.samples.map((sample) => ({
            ...sample,
            duration: sample.duration * factor,
            compositionOffset: sample.compositionOffset * factor,
          }));
    const decodeTime = Math.round(run.decodeTime * factor + shift);
    return [{ ...run, trackId: index + 1, decodeTime, description, samples, step: factor }];
  });
  const timed = beginAtZero(beginTogether(endBefore(placed, endTime, bytes), bytes), bytes);
  const missing = measureSubsegment(timed) - bytes;
  if (missing > 0) throw new UnsupportedMp4(`A segment needs ${missing} more bytes than planned`);
  return packRuns(timed, joined);
}

/** Runs of which the main one is decoded before the next segment begins, if its times fit this one. */
function endBefore(runs: readonly SteppedRun[], end: number | undefined, bytes: number): readonly SteppedRun[] {
  const [main, ...others] = runs;
  if (!main || end === undefined) return runs;
  const { decodeTime, samples, step } = main;
  if (decodeTime + samples.reduce((sum, { duration }) => sum + duration, 0) <= end) return runs;
  const moved = [moveRun(main, { start: decodeTime, end, step }), ...others];
  return measureSubsegment(moved) <= bytes ? moved : runs;
}

/**
 * Runs whose sound is decoded with the first picture where it begins within a sample after that, if they still fit their subsegment. Libavformat
 * takes the last sound that is decoded no later than that picture, and finds it in any subsegment that it has read before.
 */
function beginTogether(runs: readonly SteppedRun[], bytes: number): readonly SteppedRun[] {
  const [pictures, sound] = runs;
  if (!pictures || !sound) return runs;
  const lateness = sound.decodeTime - pictures.decodeTime;
  if (!isHardlyLate(lateness, sound)) return runs;
  const samples = sound.samples.map((sample) => ({
    ...sample,
    compositionOffset: sample.compositionOffset + lateness,
  }));
  const together = [pictures, { ...sound, decodeTime: pictures.decodeTime, samples }];
  return measureSubsegment(together) <= bytes ? together : runs;
}

/**
 * Runs whose times are not less than 0. What is shown first in a file is decoded before it: its samples are decoded at other times, if they
 * still fit their subsegment, else shown later.
 */
function beginAtZero(runs: readonly SteppedRun[], bytes: number): readonly TrackRun[] {
  if (runs.every(({ decodeTime }) => decodeTime >= 0)) return runs;
  const moved = runs.map(({ step, ...run }) => {
    const { decodeTime, samples } = moveRun(run, {
      start: Math.max(0, run.decodeTime),
      end: Number.POSITIVE_INFINITY,
      step,
    });
    // Pictures of an open group without the one before it cannot be decoded.
    const shown = samples.map((each) => ({ ...each, compositionOffset: Math.max(0, each.compositionOffset) }));
    return { ...run, decodeTime: Math.max(0, decodeTime), samples: shown };
  });
  if (measureSubsegment(moved) <= bytes) return moved;
  return runs.map((run) => ({ ...run, decodeTime: Math.max(0, run.decodeTime) }));
}

/** In one go: some ten milliseconds. */
const SHORT = { maxBytes: 4 * 1024 * 1024, maxPieces: 10_000 };

/** The same as `readSegmentSamples`, if that takes little time; else undefined. */
export function readShortSegment(request: SegmentRequest): FragmentSamples | undefined {
  const { hasIndexedPieces } = segmentFormat(request.format);
  if (!hasIndexedPieces && bytesOf(request.segment) > SHORT.maxBytes) return undefined;
  try {
    return readSegmentSamples(request, SHORT.maxPieces);
  } catch (error) {
    if (error instanceof TooManyPieces) return undefined;
    throw error;
  }
}
