import type { RecordingText } from '@reelay/seekable-media/id3';
import type { Mp3BitrateKbps } from '../../../core/conversions/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { ClipTimes } from '../representation.ts';
import type { FrameEncoding, Layout } from './frames/index.ts';

/** What a client chooses of a conversion. */
export interface EncodeChoice {
  /** The part to convert; absent: the whole. */
  readonly clip?: ClipTimes;
  /** For MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** Absent: the short tag of title and artist. */
  readonly fullTag?: FullTag;
  /** In the short tag. @default that of the item */
  readonly title?: string;
}

/** A tag with all that is known of a recording. */
export interface FullTag {
  readonly text: RecordingText;
  /** JPEG; empty: none. Undefined: it is not known before the conversion is opened. */
  readonly cover?: Buffer;
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
  layOut(resource: Resource, track: Track, choice: EncodeChoice): TaggedFrames | undefined;
  /** A conversion of unknown length. Absent: the format needs a known one. */
  sequence?(resource: Resource, choice: EncodeChoice): { readonly encoding: FrameEncoding; readonly tag: Buffer };
}
