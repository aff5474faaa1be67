import { UnsupportedMp4 } from '../isobmff/index.ts';
import { layOutFragments } from './fragmented-layout.ts';
import type { LayoutSource } from './indexed-source.ts';
import type { Layout } from './layout.ts';

/** Part of the ETag: increased whenever the same sources get another layout. */
export const LAYOUT_VERSION = 1;

/**
 * The layout of one MP4 with the video track of one file and the audio track of another: a pure function of their headers.
 * @throws UnsupportedMp4 when the output cannot be known before the media has been read
 */
export function createLayout(video: LayoutSource, audio: LayoutSource): Layout {
  if (video.fragments && audio.fragments) return layOutFragments(video, audio);
  throw new UnsupportedMp4('No layout for progressive files');
}
