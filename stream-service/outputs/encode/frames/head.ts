import { InvalidParameter } from '../../../../core/errors/index.ts';
import type { FileType } from '../../../../core/media/codecs/index.ts';
import type { Resource, Track } from '../../../../core/state/index.ts';
import type { Ffmpeg } from '../../../../core/tools/index.ts';
import type { FileSource, SegmentedSource } from '../../../source/index.ts';
import { type ClipTimes, digestParts, etagOf, type RepresentationHead } from '../../representation.ts';
import { clipFrames, LAYOUT_VERSION, type Layout, layoutBytes } from './layout.ts';

/** What identifies the content of a source before it is read. Segments have no validator. */
type SourceIdentity = Pick<FileSource, 'needsRemux' | 'size' | 'validator'> | Pick<SegmentedSource, 'needsRemux'>;

/** Identifies the content of a source and the build that encodes it. */
export const audioEntity = (resource: Resource, track: Track, source: SourceIdentity, { buildId }: Ffmpeg): string =>
  digestParts(resource.id, track.formatId, ...(source.needsRemux ? [] : [source.size, source.validator]), buildId);

/** The strong validator of a conversion: it changes with the layout, the bit rate and the tag. */
export const framesEtag = (entity: string, layout: Layout, tag: Buffer): string => {
  const { frames, firstFrame = 0, encoding } = layout;
  return etagOf(entity, LAYOUT_VERSION, frames, firstFrame, encoding.frameBytes, tag.toString('base64'));
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
