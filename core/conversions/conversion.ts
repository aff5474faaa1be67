import type { TagText } from '../media/id3/index.ts';

/** What is known of the track that a conversion reads. Codecs as RFC 6381 strings or short names. */
export interface ConversionSource {
  /** File format without a dot. */
  readonly container: string;
  /** `null`: the track has no video, or no audio. */
  readonly video: object | null;
  readonly audio: { readonly codec?: string } | null;
}

/** An output format that any rendition with audio can be converted to while it is streamed. Pure: data and arithmetic. */
export interface Conversion {
  /** What a list of renditions shows, such as `192 kbps`. */
  readonly label: string;
  readonly description: string;
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** kbit/s; `null` when it depends on the source. */
  readonly bitrateKbps: number | null;
  /** Whether to list it for a resource whose best audio is in `best`. Streaming converts any audio that is asked for. */
  isOffered(best: ConversionSource): boolean;
  /** Bytes of the whole output, exact; undefined when they cannot be known before it is encoded. */
  sizeBytes(durationSeconds: number, text: TagText): number | undefined;
}

/** What names a recording. */
export interface TaggedRecording {
  readonly title: string | null;
  readonly author: string | null;
  /** The text promised by an earlier resolve, before title or author changed. */
  readonly tag?: TagText;
}

/** The text that conversions of a recording are tagged with. */
export const tagText = ({ tag, title, author }: TaggedRecording): TagText => tag ?? { title, artist: author };
