import { MP3_SAMPLE_RATE, MP3_SAMPLES_PER_FRAME } from '../../../core/conversions/mp3/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import type { FileType } from '../../../core/media/codecs/index.ts';
import type { ClipTimes, RepresentationHead } from '../../representation.ts';
import { framesEtag } from './etag.ts';
import { clipFrames, type Layout, layoutBytes } from './layout.ts';

/** The layout of a part of a conversion, behind a tag of its own. @throws InvalidParameter when the part is empty */
export function clipLayout(whole: Layout, clip: ClipTimes | undefined): Layout {
  if (!clip) return whole;
  const part = clipFrames(clip, whole.frames);
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
function nameOf(clip: ClipTimes | undefined, { firstFrame = 0, frames }: Layout): ClipTimes | undefined {
  const end = ((firstFrame + frames) * MP3_SAMPLES_PER_FRAME) / MP3_SAMPLE_RATE;
  return clip && { ...clip, endSeconds: clip.endSeconds <= end ? clip.endSeconds : Math.round(end) };
}
