import { InvalidParameter } from '../../../../core/errors/index.ts';
import { digestOf, entityTag } from '../../../../core/http/index.ts';
import type { FileType } from '../../../../core/media/codecs/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import type { Ffmpeg } from '../../../../core/tools/index.ts';
import type { FileSource, SegmentedSource } from '../../../source/index.ts';
import type { ClipTimes, RepresentationHead } from '../../representation.ts';
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
 * The frames of a conversion that are heard between two times; undefined when there are none. A frame is a position of
 * the grid: the same bytes in every clip and in the whole.
 */
export function clipFrames(
  { startSeconds, endSeconds }: ClipTimes,
  { frames, encoding: { sampleRate, frameSamples } }: Pick<Layout, 'frames' | 'encoding'>,
): Required<Pick<Layout, 'frames' | 'firstFrame'>> | undefined {
  /** Rounded to a sample, so that a multiple of a frame is exact. */
  const toFrames = (seconds: number) => Math.round(seconds * sampleRate) / frameSamples;
  const firstFrame = Math.floor(toFrames(startSeconds));
  const endFrame = Math.min(Math.ceil(toFrames(endSeconds)), frames);
  return firstFrame < endFrame ? { firstFrame, frames: endFrame - firstFrame } : undefined;
}

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

/** What identifies the content of a source before it is read. Segments have no validator. */
type SourceIdentity = Pick<FileSource, 'needsRemux' | 'size' | 'validator'> | Pick<SegmentedSource, 'needsRemux'>;

/** Identifies the content of a source and the build that encodes it. */
export const audioEntity = (resource: Resource, track: Track, source: SourceIdentity, { buildId }: Ffmpeg): string =>
  digestOf([
    resource.id,
    track.formatId,
    ...windowOf(track),
    ...(source.needsRemux ? [] : [source.size, source.validator]),
    buildId,
  ]);

const windowOf = ({ window }: Track) => (window ? [window.first, window.last] : []);

/** The strong validator of a conversion: it changes with the layout, the bit rate and the tag. */
export const framesEtag = (entity: string, layout: Layout, tag: Buffer): string => {
  const { frames, firstFrame = 0, encoding } = layout;
  return entityTag([entity, LAYOUT_VERSION, frames, firstFrame, encoding.frameBytes, tag.toString('base64')]);
};

/** The layout of a part of a conversion, behind a tag of its own. @throws InvalidParameter when the part is empty */
export function clipLayout(whole: Layout, clip: ClipTimes | undefined): Layout {
  if (!clip) return whole;
  const part = clipFrames(clip, whole);
  if (!part) throw new InvalidParameter('The clip starts after the end of the media.');
  const hasEnd = part.firstFrame + part.frames === whole.frames;
  return { ...whole, ...part, lastFrameBytes: hasEnd ? whole.lastFrameBytes : undefined };
}

export interface SizedHeadOptions {
  readonly layout: Layout;
  /** The bytes before the frames. */
  readonly tag: Buffer;
  /** Identifies source and encoder; undefined: one of them is not known. */
  readonly entity: string | undefined;
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
  clip: nameOf(clip, layout),
});

/** An open end is named by the duration, in whole seconds. */
function nameOf(clip: ClipTimes | undefined, { firstFrame = 0, frames, encoding }: Layout): ClipTimes | undefined {
  const end = ((firstFrame + frames) * encoding.frameSamples) / encoding.sampleRate;
  return clip && { ...clip, endSeconds: clip.endSeconds <= end ? clip.endSeconds : Math.round(end) };
}
