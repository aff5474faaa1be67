import type { AudioVersion, MediaRendition, StreamOptions } from '../api/index.ts';

export type ChoiceGroup = 'video' | 'audio';

/** The rendition of a choice. Audio of GetDetails, and conversions that the service does not list, have only some properties. */
export type ChoiceRendition = Pick<MediaRendition, 'key' | 'label' | 'fileExtension' | 'mimeType'> &
  Partial<MediaRendition>;

/** One downloadable rendition as shown in the page, and what `api.streamUrl` is asked for it. */
export interface Choice extends Omit<StreamOptions, 'name'> {
  /** Stable for the same rendition; unique within an item. */
  readonly id: string;
  /** The element that plays it. */
  readonly group: ChoiceGroup;
  /** `1080p`, `129 kbps`, and what tells it apart from others of that name: `129 kbps German (dubbed)`. */
  readonly label: string;
  /** Begins the names of its files: `03 - Artist - Title`. */
  readonly title: string;
  /** In upper case: `MP4`. */
  readonly container: string;
  /** `H.264`; undefined when nothing names one. */
  readonly codec?: string;
  /** Bitrate or description, where another choice of the group has the same label, container and codec. */
  readonly note?: string;
  readonly sizeBytes?: number;
  /** The size is a sum, a share or computed from a bit rate. */
  readonly isSizeEstimate: boolean;
  /** The file is hardly ever larger, and may be much smaller. */
  readonly isSizeLimit?: true | undefined;
  /** In pixels. */
  readonly height?: number;
  /** Plays on any device of the last ten years, as far as its description tells. */
  readonly playsEverywhere: boolean;
  /** Plays in this browser, as far as known. */
  readonly playsHere: boolean;
  /** Damaged, watermarked, dubbed and so on: never preselected where a sound one ranks above it. */
  readonly isFlawed?: true;
  /** Supports ranges. Undefined until a HEAD request. */
  readonly canSeek?: boolean;
  readonly isMuxed: boolean;
  /** Version of the audio, where details are known. */
  readonly version?: AudioVersion;
  readonly rendition: ChoiceRendition;
}

export interface Choices {
  /** Best first; empty when there are none. */
  readonly video: readonly Choice[];
  /** The audio files, best first, and their conversions. */
  readonly audio: readonly Choice[];
  /** Selected until the visitor selects another; see `selectPreferred`. */
  readonly preselected?: Choice;
}

/** What a visitor selected last, in terms that fit other items too. */
export interface FormatPreference {
  /** @default video */
  readonly group?: ChoiceGroup;
  /** Video: pixels; infinite: the best. */
  readonly height?: number;
  /** Audio, in upper case: `WAV`. */
  readonly container?: string;
  /** MP3, where it is not the listed one. */
  readonly bitrateKbps?: number;
  /** Language of the audio, or `all`; absent: the original. */
  readonly language?: string;
  /** @default false */
  readonly skipsSponsors?: boolean;
  /** Language of the subtitles; absent: without. */
  readonly subtitles?: string;
}

/** The preference that a selected choice expresses, without those of the other group. */
export const preferenceOf = ({ group, height, container, bitrateKbps }: Choice): FormatPreference =>
  group === 'video' ? { group, height } : { group, container, bitrateKbps };

/** A preference as a word in a link and for the API: `best`, `1080p`, `audio` or `mp3`; undefined for a video without a height. */
export function qualityOf({ group, height, container }: FormatPreference): string | undefined {
  if (group === 'audio') return container === 'MP3' ? 'mp3' : group;
  return height === Number.POSITIVE_INFINITY ? 'best' : height ? `${height}p` : undefined;
}

/** Reads the words of `qualityOf`; undefined for other text. */
export function preferenceFromQuality(text: string | null): FormatPreference | undefined {
  const height = text === 'best' ? Number.POSITIVE_INFINITY : Number(/^([1-9]\d{1,4})p$/.exec(text ?? '')?.[1]);
  if (height > 0) return { group: 'video', height };
  return text === 'audio' || text === 'mp3'
    ? { group: 'audio', container: text === 'mp3' ? 'MP3' : undefined }
    : undefined;
}
