import type { Resource, Track } from '../../../core/state/index.ts';
import type { RenditionQuery } from '../representation.ts';
import type { FrameEncoding, Layout } from './frames/index.ts';

/** What is selected of a conversion, and the cover for its tags: JPEG, or empty. */
export interface SelectedSound extends Omit<RenditionQuery, 'route'> {
  /** Absent: it is not known before the conversion is opened. */
  readonly cover?: Buffer | undefined;
}

/** Frames behind a tag or a header. */
export interface TaggedFrames {
  readonly layout: Layout;
  readonly tag: Buffer;
}

/** An output format that FFmpeg encodes in frames of one size; `core/conversions` has the rest of its facts. */
export interface EncodedFormat {
  /**
   * The conversion of a track that can be read from anywhere. Undefined: its length is unknown.
   * @throws InvalidParameter when there is no such part
   */
  layOut(resource: Resource, track: Track, selected: SelectedSound): TaggedFrames | undefined;
  /** A conversion of unknown length. Absent: the format needs a known one. */
  sequence?(resource: Resource, selected: SelectedSound): { readonly encoding: FrameEncoding; readonly tag: Buffer };
}
