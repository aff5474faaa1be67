import type { FileType } from '@reelay/seekable-media/codecs';
import { isWhole, keptParts, type Span } from '@reelay/seekable-media/parts/skipping';
import { digestOf } from '@reelay/seekable-media/values';
import type { FileSource } from '@reelay/source';
import { type Name, nameOf } from '@reelay/source/names';
import type { Ffmpeg } from '@reelay/yt-dlp-worker';
import { InvalidParameter } from '../../../../core/errors/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import { versionOf } from '../../../source/index.ts';
import type { ClipTimes, RepresentationHead } from '../../representation.ts';

/** How the frames of a conversion are made: the facts of its format. */
export interface FrameEncoding {
  /** Hz. */
  readonly sampleRate: number;
  /** Samples of each frame, per channel. */
  readonly frameSamples: number;
  /** Bytes of each frame. */
  readonly frameBytes: number;
  /** Samples by which a decoder is later than the source: the delay of encoder and decoder. */
  readonly delaySamples: number;
  /**
   * Frames of a group. Together they last a whole number of samples at every usual sample rate: of frames of 24 ms a
   * multiple of 5.
   */
  readonly groupFrames: number;
  /** Frames that are encoded and kept together for ranges that are no longer: a group is a multiple of them. */
  readonly unitFrames: number;
  /** Frames after which the output of the encoder no longer depends on where it started. */
  readonly warmUpFrames: number;
  /** Frames that the encoder reads ahead of its output, rounded up. They are dropped from the output. */
  readonly lookAheadFrames: number;
  /** FFmpeg's options of the output. */
  readonly outputArgs: readonly string[];
}

/**
 * Increment it with any change to which bytes are at which offset: the group length, or how groups are split and
 * encoded. It is part of the ETag, so that no client joins ranges of two layouts.
 */
export const FRAME_LAYOUT_VERSION = 4;

/** A conversion is a tag (or header) and a number of frames; nothing else of it is stored. */
export interface FrameLayout {
  readonly tagBytes: number;
  readonly encoding: FrameEncoding;
  readonly frames: number;
  /** @default those of every frame */
  readonly lastFrameBytes?: number;
  /** The frames of the conversion that this layout has, in order. @default all */
  readonly parts?: readonly FramePart[];
}

/** Consecutive frames of a conversion. */
export interface FramePart {
  /** Position in the conversion. */
  readonly firstFrame: number;
  readonly frames: number;
}

/** The part with a frame of a layout, and how many frames of the layout are before it. */
function partAt({ frames, parts = [{ firstFrame: 0, frames }] }: FrameLayout, frame: number) {
  let before = 0;
  for (const part of parts) {
    if (frame < before + part.frames) return { ...part, before };
    before += part.frames;
  }
  throw new RangeError(`No frame ${frame} of ${frames}`);
}

/** Frames of one group to encode, and which of their bytes to send: `slice` as in `Buffer.subarray`. */
export interface FrameRange {
  readonly group: number;
  readonly firstFrame: number;
  /** Exclusive. */
  readonly endFrame: number;
  readonly slice: readonly [start: number, end: number];
}

/**
 * The frames of a conversion that are heard between two times; undefined when there are none. A frame is a position of
 * the grid: the same bytes in every clip and in the whole. At the start of a clip, the delay is before its first sample, as
 * in the whole; elsewhere it moves the cuts.
 */
export function clipFrames(
  times: Span,
  { frames, encoding: { sampleRate, frameSamples, delaySamples } }: Pick<FrameLayout, 'frames' | 'encoding'>,
  { isFirst, isLast } = { isFirst: true, isLast: true },
): FramePart | undefined {
  /** Rounded to a sample, so that a multiple of a frame is exact. */
  const toFrames = (seconds: number, delay: number) => (Math.round(seconds * sampleRate) + delay) / frameSamples;
  const { startSeconds, endSeconds } = times;
  const firstFrame = isFirst ? Math.floor(toFrames(startSeconds, 0)) : Math.round(toFrames(startSeconds, delaySamples));
  const lastFrame = toFrames(endSeconds, delaySamples);
  const endFrame = Math.min(isLast ? Math.ceil(lastFrame) : Math.round(lastFrame), frames);
  return firstFrame < endFrame ? { firstFrame, frames: endFrame - firstFrame } : undefined;
}

export const layoutBytes = ({
  tagBytes,
  encoding: { frameBytes },
  frames,
  lastFrameBytes = frameBytes,
}: FrameLayout): number => tagBytes + (frames - 1) * frameBytes + lastFrameBytes;

/** The part of the tag within a byte range (both ends included), as in `Buffer.subarray`. */
export const tagSlice = ({ tagBytes }: FrameLayout, first: number, last: number): [start: number, end: number] => [
  Math.min(first, tagBytes),
  Math.min(last + 1, tagBytes),
];

/**
 * The next frames to encode for a byte range (both ends included) that has been sent up to `first`: at most `frames`.
 * Undefined at the end of the range.
 */
export function nextFrameRange(
  layout: FrameLayout,
  first: number,
  last: number,
  frames: number,
): FrameRange | undefined {
  const { tagBytes, encoding } = layout;
  const { frameBytes, groupFrames } = encoding;
  const from = Math.max(first - tagBytes, 0);
  const end = last + 1 - tagBytes;
  if (from >= end) return undefined;

  const part = partAt(layout, Math.floor(from / frameBytes));
  /** Frames of the conversion before the part that this layout does not have. */
  const left = part.firstFrame - part.before;
  const firstFrame = left + Math.floor(from / frameBytes);
  const group = Math.floor(firstFrame / groupFrames);
  const endFrame = Math.min(
    left + Math.ceil(end / frameBytes),
    part.firstFrame + part.frames,
    (group + 1) * groupFrames,
    firstFrame + Math.max(frames, 1),
  );
  const offset = (firstFrame - left) * frameBytes;
  return {
    group,
    firstFrame,
    endFrame,
    slice: [from - offset, Math.min(end, (endFrame - left) * frameBytes) - offset],
  };
}

/** Some frames of one group. */
export interface EncodedUnit {
  readonly range: FrameRange;
  /** Offset of its first byte in the layout; negative or within the tag where a clip begins in the middle of it. */
  readonly offset: number;
}

/** The unit with the byte at an offset of a layout, behind the tag. It ends with the part of the layout. */
export function unitAt(layout: FrameLayout, at: number): EncodedUnit {
  const { tagBytes, encoding } = layout;
  const { frameBytes, groupFrames, unitFrames } = encoding;
  const frame = Math.floor((at - tagBytes) / frameBytes);
  const part = partAt(layout, frame);
  const left = part.firstFrame - part.before;
  const firstFrame = left + frame - ((left + frame) % unitFrames);
  const endFrame = Math.min(firstFrame + unitFrames, part.firstFrame + part.frames);
  return {
    range: {
      group: Math.floor(firstFrame / groupFrames),
      firstFrame,
      endFrame,
      slice: [0, (endFrame - firstFrame) * frameBytes],
    },
    offset: tagBytes + (firstFrame - left) * frameBytes,
  };
}

/** Names the content of a source, for the build that encodes it. */
export const audioEntity = (resource: Resource, track: Track, source: FileSource, { buildId }: Ffmpeg): Name =>
  nameOf([versionOf(resource, track, source)], 'audio', buildId);

/** The strong validator of a conversion: it changes with the layout, the bit rate and the tag. */
const framesEtag = (entity: Name, layout: FrameLayout, tag: Buffer): string => {
  const { frames, encoding, parts = [{ firstFrame: 0, frames }] } = layout;
  const places = parts.flatMap((part) => [part.frames, part.firstFrame]);
  return `"${nameOf([entity], 'frames', [FRAME_LAYOUT_VERSION, ...places, encoding.frameBytes, digestOf(tag)])}"`;
};

/**
 * The layout of some parts of a conversion, behind a tag of its own. Where something is left out, the cut is at the nearest
 * frame. @throws InvalidParameter when nothing remains
 */
export function clipLayout(whole: FrameLayout, clip: ClipTimes | undefined): FrameLayout {
  if (!clip) return whole;
  const kept = keptParts(clip);
  const parts = kept.flatMap(
    (part, index) => clipFrames(part, whole, { isFirst: index === 0, isLast: index === kept.length - 1 }) ?? [],
  );
  const last = parts.at(-1);
  if (!last) throw new InvalidParameter('Nothing of the media is in the clip.');
  const hasEnd = last.firstFrame + last.frames === whole.frames;
  const frames = parts.reduce((sum, part) => sum + part.frames, 0);
  return { ...whole, frames, parts, lastFrameBytes: hasEnd ? whole.lastFrameBytes : undefined };
}

export interface SizedHeadOptions {
  readonly layout: FrameLayout;
  /** The bytes before the frames. */
  readonly tag: Buffer;
  /** Identifies source and encoder; undefined: one of them is not known. */
  readonly entity: Name | undefined;
  readonly clip: ClipTimes | undefined;
}

/** The head of a conversion of known length. */
export const sizedHead = (
  { mimeType, fileExtension }: FileType,
  { layout, tag, entity, clip }: SizedHeadOptions,
): RepresentationHead => ({
  mimeType,
  fileExtension,
  size: layoutBytes(layout),
  etag: entity && framesEtag(entity, layout, tag),
  acceptRanges: 'bytes',
  clip: clipNameOf(clip, layout),
});

/** An open end is named by the duration, in whole seconds. Parts that are left out alone are not named. */
function clipNameOf(clip: ClipTimes | undefined, layout: FrameLayout): ClipTimes | undefined {
  if (!clip || isWhole(clip)) return undefined;
  const { frames, encoding, parts } = layout;
  const { firstFrame, frames: partFrames } = parts?.at(-1) ?? { firstFrame: 0, frames };
  const end = ((firstFrame + partFrames) * encoding.frameSamples) / encoding.sampleRate;
  return { ...clip, endSeconds: clip.endSeconds <= end ? clip.endSeconds : Math.round(end) };
}
