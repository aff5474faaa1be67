import {
  MP3_BITRATES_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  mp3FrameBytes,
  mp3Frames,
} from '../../../../core/conversions/mp3/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import type { ClipTimes } from '../../representation.ts';
import type { FrameEncoding } from './frame-encoding.ts';

/**
 * Increment it with any change to which bytes are at which offset: the segment length, or how segments are split and
 * encoded. It is part of the ETag, so that no client joins ranges of two layouts.
 */
export const LAYOUT_VERSION = 2;

/** A conversion is a tag (or header) and a number of frames; nothing else of it is stored. */
export interface Layout {
  readonly tagBytes: number;
  readonly encoding: FrameEncoding;
  readonly frames: number;
  /** @default those of every frame */
  readonly lastFrameBytes?: number;
  /** Frames of the conversion before the first one of this layout, which is a clip of it. @default 0 */
  readonly firstFrame?: number;
}

/** Frames of one segment to encode, and which of their bytes to send: `slice` as in `Buffer.subarray`. */
export interface FrameRange {
  readonly segment: number;
  readonly firstFrame: number;
  /** Exclusive. */
  readonly endFrame: number;
  readonly slice: readonly [start: number, end: number];
}

/**
 * Frames of the MP3 of a track: as many as the size promised at resolve holds, else by the duration. Undefined when that is
 * unknown.
 * @param tagBytes of the tag that the promised size includes
 */
export function promisedFrames({ mp3, renditions, isLive, durationSeconds }: Resource, track: Track, tagBytes: number) {
  const carrier = renditions.find(({ id }) => id === mp3?.renditionId);
  if (mp3?.sizeBytes !== undefined && carrier?.formatIds[0] === track.formatId) {
    return countable((mp3.sizeBytes - tagBytes) / MP3_FRAME_BYTES);
  }
  return isLive || !durationSeconds ? undefined : countable(mp3Frames(durationSeconds));
}

/**
 * The frames of a conversion that are heard between two times; undefined when there are none. A frame is a position of
 * the grid: the same bytes in every clip and in the whole.
 */
export function clipFrames(
  { startSeconds, endSeconds }: ClipTimes,
  frames: number,
): Required<Pick<Layout, 'frames' | 'firstFrame'>> | undefined {
  const firstFrame = Math.floor(toFrames(startSeconds));
  const endFrame = Math.min(Math.ceil(toFrames(endSeconds)), frames);
  return firstFrame < endFrame ? { firstFrame, frames: endFrame - firstFrame } : undefined;
}

/** Rounded to a sample, so that a multiple of a frame is exact. */
const toFrames = (seconds: number) => Math.round(seconds * MP3_SAMPLE_RATE) / MP3_SAMPLES_PER_FRAME;

/** Beyond the safe integers offsets are not exact any more, at the highest bit rate either. */
const countable = (frames: number): number | undefined =>
  Number.isSafeInteger(frames * MAX_FRAME_BYTES) ? frames : undefined;
const MAX_FRAME_BYTES = Math.max(...MP3_BITRATES_KBPS.map(mp3FrameBytes));

export const layoutBytes = ({
  tagBytes,
  encoding: { frameBytes },
  frames,
  lastFrameBytes = frameBytes,
}: Layout): number => tagBytes + (frames - 1) * frameBytes + lastFrameBytes;

/** The part of the tag within a byte range (both ends included), as in `Buffer.subarray`. */
export const tagSlice = ({ tagBytes }: Layout, first: number, last: number): [start: number, end: number] => [
  Math.min(first, tagBytes),
  Math.min(last + 1, tagBytes),
];

/**
 * The next frames to encode for a byte range (both ends included) that has been sent up to `first`: at most `frames`.
 * Undefined at the end of the range.
 */
export function nextFrameRange(
  { tagBytes, encoding: { frameBytes, segmentFrames }, firstFrame: clipStart = 0 }: Layout,
  first: number,
  last: number,
  frames: number,
): FrameRange | undefined {
  const from = Math.max(first - tagBytes, 0);
  const end = last + 1 - tagBytes;
  if (from >= end) return undefined;

  const firstFrame = clipStart + Math.floor(from / frameBytes);
  const segment = Math.floor(firstFrame / segmentFrames);
  const endFrame = Math.min(
    clipStart + Math.ceil(end / frameBytes),
    (segment + 1) * segmentFrames,
    firstFrame + Math.max(frames, 1),
  );
  const offset = (firstFrame - clipStart) * frameBytes;
  return {
    segment,
    firstFrame,
    endFrame,
    slice: [from - offset, Math.min(end, (endFrame - clipStart) * frameBytes) - offset],
  };
}
