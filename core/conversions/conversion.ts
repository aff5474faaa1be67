import { type ChapterMark, chaptersWithin, timeChapters } from '@reelay/seekable-media/chapters';
import type { FileType } from '@reelay/seekable-media/codecs';
import type { RecordingText, TagText } from '@reelay/seekable-media/id3';
import { type ClipTimes, keptParts } from '@reelay/seekable-media/skipping';

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
   * Whether to list it for a resource whose best rendition with audio is sent as such a file. Streaming converts any audio that a
   * request selects. Absent: never listed.
   */
  isOffered?(best: Pick<FileType, 'fileExtension'>): boolean;
  /** Bytes of the whole output, exact. Absent or undefined: not known before it is encoded. */
  sizeBytes?(durationSeconds: number, text: TagText): number | undefined;
}

/** The metadata that names a recording. */
interface TaggedRecording {
  readonly title: string | null;
  readonly author: string | null;
  readonly album?: string;
  readonly trackNumber?: number;
  readonly durationSeconds?: number;
  readonly details?: { readonly uploadDate?: string; readonly chapters?: readonly ChapterMark[] };
  /** The text promised by an earlier resolve, before it changed. */
  readonly tag?: FrozenText;
}

/** The texts of a tag that another resolve may change; the link of a resource never does. */
export type FrozenText = Omit<RecordingText, 'link' | 'chapters'>;

/** The text that conversions of a recording are tagged with. */
export const tagText = ({ tag, title, author, album, trackNumber, details }: TaggedRecording): FrozenText =>
  tag ?? {
    title,
    artist: author,
    ...(album !== undefined && { album }),
    ...(trackNumber !== undefined && { trackNumber }),
    ...(details?.uploadDate !== undefined && { date: details.uploadDate }),
  };

/** The list that a recording is sent as a part of, or the recording that a chapter is a part of. */
export interface ListPlace {
  readonly album?: string;
  readonly trackNumber: number;
  /** The chapter that is a recording of its own: the item is its album, whatever it names. Absent: the whole item. */
  readonly chapterTitle?: string;
}

/**
 * The text of full tags.
 * @param place for a recording that names no album itself
 * @param clip the part that has the tags. @default the whole
 */
export function recordingText(
  recording: TaggedRecording & { readonly origin: { readonly url: string } },
  place?: ListPlace,
  clip: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY },
): RecordingText {
  const { chapterTitle, album, trackNumber } = place ?? {};
  const own = { ...tagText(recording), link: recording.origin.url };
  if (chapterTitle !== undefined) return { ...own, title: chapterTitle, album, trackNumber };
  const { durationSeconds = Number.POSITIVE_INFINITY, details } = recording;
  const endSeconds = Math.min(clip.endSeconds, durationSeconds);
  const all = timeChapters(details?.chapters ?? [], durationSeconds);
  const chapters = chaptersWithin(all, keptParts({ ...clip, endSeconds }));
  const text = { ...own, ...(chapters.length > 0 && { chapters }) };
  if (!place || text.album !== undefined) return text;
  return { ...text, album, trackNumber: text.trackNumber ?? trackNumber };
}
