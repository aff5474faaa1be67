import type { RecordingText, TagText } from '../media/id3/index.ts';

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
  /**
   * Whether to list it for a resource whose best audio is in `best`. Streaming converts any audio that a request
   * selects. Absent: never listed.
   */
  isOffered?(best: ConversionSource): boolean;
  /** Bytes of the whole output, exact. Absent or undefined: not known before it is encoded. */
  sizeBytes?(durationSeconds: number, text: TagText): number | undefined;
}

/** The metadata that names a recording. */
export interface TaggedRecording {
  readonly title: string | null;
  readonly author: string | null;
  readonly album?: string;
  readonly trackNumber?: number;
  readonly details?: { readonly uploadDate?: string };
  /** The text promised by an earlier resolve, before it changed. */
  readonly tag?: FrozenText;
}

/** The texts of a tag that another resolve may change; the link of a resource never does. */
export type FrozenText = Omit<RecordingText, 'link'>;

/** The text that conversions of a recording are tagged with. */
export const tagText = ({ tag, title, author, album, trackNumber, details }: TaggedRecording): FrozenText =>
  tag ?? {
    title,
    artist: author,
    ...(album !== undefined && { album }),
    ...(trackNumber !== undefined && { trackNumber }),
    ...(details?.uploadDate !== undefined && { date: details.uploadDate }),
  };

/** The list that a recording is sent as a part of. */
export type ListPlace = Required<Pick<RecordingText, 'album' | 'trackNumber'>>;

/**
 * The text of full tags.
 * @param place for a recording that names no album itself
 */
export function recordingText(
  recording: TaggedRecording & { readonly origin: { readonly url: string } },
  place?: ListPlace,
): RecordingText {
  const text = { ...tagText(recording), link: recording.origin.url };
  if (!place || text.album !== undefined) return text;
  return { ...text, album: place.album, trackNumber: text.trackNumber ?? place.trackNumber };
}
