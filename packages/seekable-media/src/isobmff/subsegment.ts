import { BOX_HEADER_BYTES, box, boxHeader, fullBox, integers, UnsupportedMp4, u32, u64 } from './boxes.ts';
import { NON_SYNC_SAMPLE_FLAGS, SYNC_SAMPLE_FLAGS } from './fragment-writer.ts';
import { TFHD, TRUN } from './movie-fragment.ts';

/** A sample of a subsegment. Times in units of its track, size in bytes. */
export interface RunSample {
  readonly duration: number;
  readonly size: number;
  readonly compositionOffset: number;
  readonly isSync: boolean;
}

/** What a subsegment has of a track. */
export interface TrackRun {
  readonly trackId: number;
  /** When the first sample is decoded. */
  readonly decodeTime: number;
  /** Sample description index, from 1. */
  readonly description: number;
  /** In decode order. */
  readonly samples: readonly RunSample[];
  /** The bytes of the samples, in the same order. */
  readonly data: readonly Buffer[];
  /** The data are NAL units, which samples have behind their length. @default false */
  readonly lacksLengths?: true;
}

/** Bytes of the length in front of a NAL unit. */
export const LENGTH_BYTES = 4;

/** Bytes that a subsegment needs for some runs. Neither their data nor the unit of their times matters. */
export function measureSubsegment(runs: readonly Omit<TrackRun, 'data'>[]): number {
  const present = runs.filter(({ samples }) => samples.length > 0);
  const mfhd = fullBox('mfhd', 0, 0, u32(0));
  const trafs = present.map(writeTrackFragment);
  return trafs.reduce(
    (sum, { traf, dataBytes }) => sum + traf.length + dataBytes,
    BOX_HEADER_BYTES + mfhd.length + BOX_HEADER_BYTES,
  );
}

/** What a subsegment has besides the bytes of its samples. */
export interface SubsegmentBoxes {
  /** `moof` and the header of `mdat`, before the samples of all runs in their order. */
  readonly head: Buffer;
  /** Behind the samples: zeros, after the header of a `free` box where there is room for one. */
  readonly tail: Buffer;
}

/**
 * The frame of a fragment of exactly so many bytes: `moof`, `mdat`, and `free` for the rest. Each track has one `traf` with one `trun`:
 * of several ones, libavformat loses samples when it seeks back. Tracks without samples are left out; without any, it is a `free` box.
 * @throws UnsupportedMp4 when the samples need more bytes
 */
export function writeSubsegmentBoxes(
  bytes: number,
  sequence: number,
  runs: readonly Omit<TrackRun, 'data'>[],
): SubsegmentBoxes {
  const present = runs.filter(({ samples }) => samples.length > 0);
  if (present.length === 0) return { head: boxHeader('free', bytes), tail: Buffer.alloc(bytes - BOX_HEADER_BYTES) };
  const mfhd = fullBox('mfhd', 0, 0, u32(sequence));
  const trafs = present.map(writeTrackFragment);
  let end = trafs.reduce((sum, { traf }) => sum + traf.length, BOX_HEADER_BYTES + mfhd.length + BOX_HEADER_BYTES);
  for (const { traf, dataOffsetAt, dataBytes } of trafs) {
    traf.writeUInt32BE(end, dataOffsetAt);
    end += dataBytes;
  }
  const moof = box('moof', mfhd, ...trafs.map(({ traf }) => traf));
  const rest = bytes - end;
  if (rest < 0) throw new UnsupportedMp4(`A fragment needs ${-rest} more bytes than planned`);
  // A rest that cannot hold a box header belongs to the `mdat`.
  const isFree = rest >= BOX_HEADER_BYTES;
  const head = Buffer.concat([moof, boxHeader('mdat', end - moof.length + (isFree ? 0 : rest))]);
  const tail = Buffer.alloc(rest);
  if (isFree) boxHeader('free', rest).copy(tail);
  return { head, tail };
}

/** With where the offset of its data has to be written, from the start of `moof`. */
function writeTrackFragment({ trackId, decodeTime, description, samples }: Omit<TrackRun, 'data'>) {
  const [first, second] = samples;
  const differs = (field: 'duration' | 'size') => samples.some((sample) => sample[field] !== first?.[field]);
  const hasDurations = differs('duration');
  const hasSizes = differs('size');
  const hasFlags = samples.some(({ isSync }, index) => index > 1 && isSync !== second?.isSync);
  const hasOffsets = samples.some(({ compositionOffset }) => compositionOffset !== 0);
  const flagsOf = (isSync = true) => (isSync ? SYNC_SAMPLE_FLAGS : NON_SYNC_SAMPLE_FLAGS);
  const defaultFlags = flagsOf((second ?? first)?.isSync);
  const hasFirstFlags = !hasFlags && flagsOf(first?.isSync) !== defaultFlags;

  const defaults = [
    [TFHD.sampleDescription, description, description !== 1],
    [TFHD.sampleDuration, first?.duration ?? 0, !hasDurations],
    [TFHD.sampleSize, first?.size ?? 0, !hasSizes],
    [TFHD.sampleFlags, defaultFlags, true],
  ] as const;
  const stated = defaults.filter(([, , isStated]) => isStated);
  const tfhdFlags = stated.reduce((flags, [flag]) => flags | flag, TFHD.baseIsMoof as number);
  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(trackId, ...stated.map(([, value]) => value)));

  const runFlags =
    TRUN.dataOffset |
    (hasFirstFlags ? TRUN.firstSampleFlags : 0) |
    (hasDurations ? TRUN.sampleDuration : 0) |
    (hasSizes ? TRUN.sampleSize : 0) |
    (hasFlags ? TRUN.sampleFlags : 0) |
    (hasOffsets ? TRUN.compositionOffset : 0);
  const fields: number[] = [];
  for (const { duration, size, isSync, compositionOffset } of samples) {
    if (hasDurations) fields.push(duration);
    if (hasSizes) fields.push(size);
    if (hasFlags) fields.push(flagsOf(isSync));
    if (hasOffsets) fields.push(compositionOffset);
  }
  const firstFlags = hasFirstFlags ? [flagsOf(first?.isSync)] : [];
  const trun = fullBox('trun', 1, runFlags, u32(samples.length, 0, ...firstFlags), integers(fields));
  const traf = box('traf', tfhd, fullBox('tfdt', 1, 0, u64(decodeTime)), trun);
  // Behind the version, the flags and the count.
  const dataOffsetAt = traf.length - trun.length + BOX_HEADER_BYTES + 8;
  return { traf, dataOffsetAt, dataBytes: samples.reduce((sum, { size }) => sum + size, 0) };
}
