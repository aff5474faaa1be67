import { type ChapterMark, timeChapters } from '@reelay/seekable-media/parts/chapters';
import type { ClipTimes, SkipCategory } from '@reelay/seekable-media/parts/skipping';
import type { SubtitleFormat } from '@reelay/seekable-media/text/subtitles';
import type { WindowTimes } from '@reelay/seekable-media/timeline';
import type { ConversionName, Mp3BitrateKbps } from '../conversions/index.ts';

/** The best, the worst, the best up to a height in pixels, or audio alone. */
export type Quality = 'best' | 'worst' | 'audio' | 'mp3' | { readonly maxHeight: number };

/** Which entries of a list: ranges of their numbers, from 1, both ends included. */
export type EntrySelection = readonly (readonly [first: number, last: number])[];

/** A part of a live stream. */
export type WindowSelection =
  /** Media sequence numbers, both included. */
  | { readonly kind: 'segments'; readonly first: number; readonly last: number }
  | ({ readonly kind: 'times' } & WindowTimes);

/** Formats of a feed; the first one is the default. */
export const FEED_FORMATS = ['rss', 'm3u8', 'metalink', 'chapters', 'transcript'] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

/** What is asked of a link, of a rendition or of each entry of a list. What is absent is as it is. */
export interface Selection {
  /** Which rendition. @default best */
  readonly quality?: Quality;
  /** The best of all codecs instead of the best that plays everywhere. */
  readonly codec?: 'any';
  /** What the audio is converted to. */
  readonly format?: ConversionName;
  /** The bit rate of MP3. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** The best that has at most so many bytes, by what is known of their sizes. */
  readonly maxBytes?: number;
  /** With title, artist, cover and so on, where the output has room for them. */
  readonly hasTags?: boolean;
  /** Language of the subtitles to embed. */
  readonly subtitles?: string;
  /** Language of the audio, `original`, or `all`. */
  readonly audio?: string;
  /** Segments to leave out. */
  readonly skip?: readonly SkipCategory[];
  /** Segments to write as chapters, which are a part of the tags. */
  readonly mark?: readonly SkipCategory[];
  readonly clip?: ClipTimes;
  /** A time range of a live stream's DVR window. @default the live edge */
  readonly window?: WindowSelection;
  /** The number of a chapter, from 1, in place of a clip. */
  readonly chapter?: number;
  /** From the keyframe at or before it on. */
  readonly fromKeyframeSeconds?: number;
  /** Without extension. */
  readonly fileName?: string;
  /** The entries of a list as one file. */
  readonly isArchive?: boolean;
  /** The chapters of an item are the entries. */
  readonly isSplit?: boolean;
  /** @default all */
  readonly entries?: EntrySelection;
  /** Entries of a list before those that are resolved. @default 0 */
  readonly offset?: number;
  /** Number of the first entry, from 1. */
  readonly from?: number;
  /** Reports the progress of an archive. */
  readonly jobId?: string;
  readonly feedFormat?: FeedFormat;
  /** What a subtitle file is converted to. */
  readonly textFormat?: SubtitleFormat;
  /** The version of the media that a playlist refers to. */
  readonly entity?: string;
}

/** Whether an entry is among those that are selected. @param number from 1 */
export const isSelected = (number: number, entries: EntrySelection | undefined): boolean =>
  !entries || entries.some(([first, last]) => first <= number && number <= last);

/** The part of a recording that is selected; undefined: all of it. */
export const selectedPart = (
  { clip, chapter }: Selection,
  { details, durationSeconds }: SelectableRecording,
): ClipTimes | undefined =>
  chapter === undefined ? clip : timeChapters(details?.chapters ?? [], durationSeconds)[chapter - 1];

interface SelectableRecording {
  readonly durationSeconds?: number;
  readonly details?: { readonly chapters?: readonly ChapterMark[] };
}

/** Whether the tracks are sent with nothing else, and none in place of another. */
export const isPlain = ({ hasTags, subtitles, audio }: Selection): boolean =>
  !hasTags && subtitles === undefined && audio === undefined;
