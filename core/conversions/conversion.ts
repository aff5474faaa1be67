import { type ChapterMark, chaptersWithin, timeChapters } from '@reelay/seekable-media/parts/chapters';
import { type ClipTimes, keptParts } from '@reelay/seekable-media/parts/skipping';
import { id3Tag, type RecordingText, type TagText } from '@reelay/seekable-media/tags/id3';
import { MP3_BITRATE_KBPS, type Mp3BitrateKbps } from './formats/index.ts';

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

/** The position of a recording in the list, or of a chapter in the recording, that it is sent as a part of. */
export interface AlbumPosition {
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
  place?: AlbumPosition,
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

/**
 * The format of the MP3 conversion, shared by resolving, which promises the size, and streaming, which delivers it: an
 * ID3v2 tag, a frame that tells players its length, then frames of sound. 48 kHz, constant bit rate, no bit reservoir: every frame has the same size.
 */
export const MP3_SAMPLE_RATE = 48_000;
/** MPEG-1 Layer III (ISO/IEC 11172-3 §2.4.2.1). */
export const MP3_SAMPLES_PER_FRAME = 1152;

/** Bytes of a frame: 24 ms. Whole at these bit rates, so that no frame is padded. */
export const mp3FrameBytes = (bitrateKbps: Mp3BitrateKbps): number =>
  (bitrateKbps * 1000 * MP3_SAMPLES_PER_FRAME) / MP3_SAMPLE_RATE / 8;
/** At the default bit rate: 576. */
export const MP3_FRAME_BYTES = mp3FrameBytes(MP3_BITRATE_KBPS);

/** Frames of sound of a conversion: LAME adds one for its delay. A rounding error of the seconds must not cost a frame. */
export const mp3Frames = (durationSeconds: number): number =>
  Math.ceil(Math.round(durationSeconds * MP3_SAMPLE_RATE) / MP3_SAMPLES_PER_FRAME) + 1;

/** Bytes of the whole conversion, tag included. Undefined beyond `Number.MAX_SAFE_INTEGER`. */
export function mp3SizeBytes(
  durationSeconds: number,
  text: TagText,
  bitrateKbps: Mp3BitrateKbps = MP3_BITRATE_KBPS,
): number | undefined {
  const size = id3Tag(text).length + (1 + mp3Frames(durationSeconds)) * mp3FrameBytes(bitrateKbps);
  return Number.isSafeInteger(size) ? size : undefined;
}
