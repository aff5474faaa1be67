import { MP3_FRAME_BYTES, mp3Frames } from '../../../core/conversions/mp3/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';

/**
 * Changes with everything that decides which bytes stand where: the segment length, the way a segment is cut and
 * encoded. It is part of the ETag, so that no client joins two layouts.
 */
export const LAYOUT_VERSION = 2;

/**
 * Frames of a segment: 144 s. Longer ones cost less (each encoder has to start and to find its place in the source, as
 * much work as encoding some 10 s), shorter ones are decoded sooner up to a place in their middle.
 * A multiple of 5: that many frames last 0.12 s, a whole number of samples at every usual sample rate.
 */
export const SEGMENT_FRAMES = 6000;

/** A conversion that exists only as this: a tag, then so many frames. */
export interface Layout {
  readonly tagBytes: number;
  readonly frames: number;
}

/** Frames to encode, all of one segment, and which of their bytes are wanted: `slice` as `Buffer.subarray` takes it. */
export interface FrameRange {
  readonly segment: number;
  readonly firstFrame: number;
  /** Not included. */
  readonly endFrame: number;
  readonly slice: readonly [start: number, end: number];
}

/**
 * Frames of the conversion of a track: where its size was promised at resolve, as many as that size holds. Undefined
 * when the duration is not known.
 */
export function promisedFrames({ mp3, renditions, isLive, durationSeconds }: Resource, track: Track, tagBytes: number) {
  const carrier = renditions.find(({ id }) => id === mp3?.renditionId);
  if (mp3?.sizeBytes !== undefined && carrier?.formatIds[0] === track.formatId) {
    return countable((mp3.sizeBytes - tagBytes) / MP3_FRAME_BYTES);
  }
  return isLive || !durationSeconds ? undefined : countable(mp3Frames(durationSeconds));
}

/** Beyond, one frame more is the same number: whoever counts up to it never gets there. */
const countable = (frames: number): number | undefined =>
  Number.isSafeInteger(frames * MP3_FRAME_BYTES) ? frames : undefined;

export const layoutBytes = ({ tagBytes, frames }: Layout): number => tagBytes + frames * MP3_FRAME_BYTES;

/** What a byte range (both ends included) has of the tag, as `Buffer.subarray` takes it. */
export const tagSlice = ({ tagBytes }: Layout, first: number, last: number): [start: number, end: number] => [
  Math.min(first, tagBytes),
  Math.min(last + 1, tagBytes),
];

/**
 * The next frames to encode for a byte range (both ends included) that is sent up to `first`: at most `frames` of them.
 * Undefined when the range has no more.
 */
export function nextFrameRange(
  { tagBytes }: Layout,
  first: number,
  last: number,
  frames: number,
): FrameRange | undefined {
  const from = Math.max(first - tagBytes, 0);
  const end = last + 1 - tagBytes;
  if (from >= end) return undefined;

  const firstFrame = Math.floor(from / MP3_FRAME_BYTES);
  const segment = Math.floor(firstFrame / SEGMENT_FRAMES);
  const endFrame = Math.min(
    Math.ceil(end / MP3_FRAME_BYTES),
    (segment + 1) * SEGMENT_FRAMES,
    firstFrame + Math.max(frames, 1),
  );
  const offset = firstFrame * MP3_FRAME_BYTES;
  return {
    segment,
    firstFrame,
    endFrame,
    slice: [from - offset, Math.min(end, endFrame * MP3_FRAME_BYTES) - offset],
  };
}
