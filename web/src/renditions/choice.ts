import type { ClipTimes, MediaRendition } from '../api/index.ts';

export type ChoiceGroup = 'video' | 'audio' | 'mp3';

/** Kinds of segments that viewers report. */
export const SEGMENT_CATEGORIES = [
  ...(['sponsor', 'selfpromo', 'interaction', 'intro', 'outro', 'preview', 'hook', 'filler'] as const),
  'music_offtopic',
] as const;
export type SegmentCategory = (typeof SEGMENT_CATEGORIES)[number];

export interface Segment {
  readonly category: SegmentCategory;
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** What the audio of a rendition is, as GetDetails describes it. */
export interface AudioVersion {
  /** BCP 47. */
  readonly language: string | null;
  readonly isOriginal: boolean;
  readonly isDubbed: boolean;
  /** With a narrator who describes the picture. */
  readonly isDescriptive: boolean;
  /** With compressed dynamic range. */
  readonly isDrc: boolean;
}

export interface DetailedAudio extends MediaRendition {
  readonly version: AudioVersion;
}

/** One downloadable rendition as shown in the page. */
export interface Choice {
  /** Stable for the same rendition; unique within an item. */
  readonly id: string;
  readonly group: ChoiceGroup;
  /** `1080p`, `129 kbps`. */
  readonly label: string;
  /** In upper case: `MP4`. */
  readonly container: string;
  /** `H.264`; undefined when nothing names one. */
  readonly codec?: string;
  /** Bitrate or description, where another choice of the group has the same label, container and codec. */
  readonly note?: string;
  readonly sizeBytes?: number;
  /** The size is a sum, a share or computed from a bit rate. */
  readonly isSizeEstimate: boolean;
  /** Pixels. */
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
  /** Plays on any device of the last ten years, as far as its description tells. */
  readonly playsEverywhere: boolean;
  /** Plays in this browser, or nothing says otherwise. */
  readonly playsHere: boolean;
  /** Damaged, watermarked, dubbed and so on: never preselected where a sound one ranks above it. */
  readonly isFlawed?: true;
  /** Supports ranges. Undefined until a HEAD request. */
  readonly canSeek?: boolean;
  readonly isMuxed: boolean;
  /** The element that plays it. */
  readonly element: 'video' | 'audio';
  /** `Artist - Title (1080p).mp4`, valid on every file system. */
  readonly fileName: string;
  /** The part of it; absent: the whole. */
  readonly clip?: ClipTimes;
  /** Of a live stream: the time before now. */
  readonly lastSeconds?: number;
  /** The number of a chapter, from 1, as the part of it. */
  readonly chapter?: number;
  /** Categories of segments that are left out. */
  readonly skip?: readonly SegmentCategory[];
  /** Categories of segments that become chapters of it. */
  readonly mark?: readonly SegmentCategory[];
  /** The language of its audio in place of its own, or `all`: each as a track of its own. */
  readonly audio?: string;
  /** Bitrate of an MP3, where it differs from the listed one. */
  readonly bitrateKbps?: number;
  /** Downloads have title, artist and cover in the file. */
  readonly hasTags?: boolean;
  /** Language of the subtitles in the file. */
  readonly subtitles?: string;
  /** Version of the audio, where details are known. */
  readonly version?: AudioVersion;
  /** For `api.streamUrl`. */
  readonly rendition: MediaRendition;
}

export interface Choices {
  /** Best first; empty when there are none. */
  readonly video: readonly Choice[];
  readonly audio: readonly Choice[];
  readonly mp3: readonly Choice[];
  /** Selected until the visitor selects another; see `selectPreferred`. */
  readonly preselected?: Choice;
}

/** What a visitor selected last, in terms that fit other items too. */
export interface FormatPreference {
  readonly group: ChoiceGroup;
  /** The group of audio that was selected last. @default audio */
  readonly audioGroup?: 'audio' | 'mp3';
  /** Video: pixels. */
  readonly height?: number;
  /** MP3, where it is not the listed one. */
  readonly bitrateKbps?: number;
  /** Audio, in upper case: `WAV`. */
  readonly container?: string;
  /** Language of the audio, or `all`; absent: the original. */
  readonly language?: string;
  /** Segments that are left out; absent: none. */
  readonly skip?: readonly SegmentCategory[];
  /** Whether segments become chapters instead. @default false */
  readonly isMarked?: boolean;
  /** Language of the subtitles; absent: without. */
  readonly subtitles?: string;
  /** @default true */
  readonly hasTags?: boolean;
}

/** The preference that a selected choice expresses, without those of the other groups. */
export function preferenceOf({ group, height, bitrateKbps, container }: Choice): FormatPreference {
  if (group === 'video') return { group, height };
  return { group, audioGroup: group, ...(group === 'mp3' ? { bitrateKbps } : { container }) };
}

/** A preference as a word in a link: `1080p`, `audio` or `mp3`; undefined for a video without a height. */
export function qualityOf({ group, height }: FormatPreference): string | undefined {
  if (group !== 'video') return group;
  return height === undefined ? undefined : `${height}p`;
}

/** Reads the words of `qualityOf`, and `best` for the tallest video; undefined for other text. */
export function preferenceFromQuality(text: string | null): FormatPreference | undefined {
  if (text === 'audio' || text === 'mp3') return { group: text };
  if (text === 'best') return { group: 'video', height: Number.MAX_SAFE_INTEGER };
  const height = Number(/^([1-9]\d{1,4})p$/.exec(text ?? '')?.[1]);
  return height > 0 ? { group: 'video', height } : undefined;
}
