import { layOutFragments } from './fragmented-layout.ts';
import type { LayoutExtras, LayoutSource } from './indexed-source.ts';
import type { Layout } from './layout.ts';
import { layOutSamples } from './progressive-layout.ts';

/** Part of the ETag: increased whenever the same sources get another layout. */
export const LAYOUT_VERSION = 1;

/**
 * The layout of one MP4 with the video track of one file and the audio track of another: a pure function of their headers.
 * @throws UnsupportedMp4 when the output cannot be known before the media has been read; Error when a file is truncated
 */
export function createLayout(video: LayoutSource, audio: LayoutSource, extras: LayoutExtras = {}): Layout {
  const isFragmented = video.fragments || audio.fragments;
  return isFragmented ? layOutFragments(video, audio, extras) : layOutSamples(video, audio, extras);
}
