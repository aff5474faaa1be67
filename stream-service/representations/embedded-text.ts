import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import { TextTooLarge, timedText } from '../../core/media/timed-text/index.ts';
import type { LayoutExtras } from '../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';

export interface TextTarget {
  /** Whether the answer is MP4. */
  readonly isMp4: boolean;
  /** To audio. @default false */
  readonly isConverted?: boolean;
}

/** @throws InvalidParameter, UnsupportedRendition where no subtitles can be embedded */
export function requireTextTarget({ resource, tracks }: KeyedRendition, { isMp4, isConverted }: TextTarget): void {
  if (isConverted) throw new InvalidParameter('subtitles cannot be combined with format.');
  if (resource.isLive) throw new UnsupportedRendition('Subtitles cannot be embedded in a live stream.');
  if (!tracks.some(({ video }) => video)) throw new UnsupportedRendition('Subtitles can be embedded in video only.');
  if (!isMp4) throw new UnsupportedRendition('Subtitles can be embedded in MP4 only.');
}

/** @throws UnsupportedRendition where an error says that subtitles are too large */
export function refuseLargeText(reason: unknown): void {
  if (reason instanceof TextTooLarge)
    throw new UnsupportedRendition('The subtitles are too large to embed.', { cause: reason });
}

/** Checks the text before anything is muxed. @throws UnsupportedRendition when it is too large */
export function requireFittingText({ text }: LayoutExtras, endSeconds = Number.POSITIVE_INFINITY): void {
  try {
    if (text) timedText(text, endSeconds);
  } catch (error) {
    refuseLargeText(error);
    throw error;
  }
}
