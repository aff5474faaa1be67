import type { ChapterMark } from '@reelay/seekable-media/parts/chapters';
import type { SourceTrack, TrackFile } from '@reelay/source/track';
import type { EntrySelection } from '../api/index.ts';
import type { ConversionName, FrozenText } from '../conversions/index.ts';
import { InvalidParameter } from '../errors/index.ts';

/**
 * One resolved item with its metadata and upstream formats. Duration, sizes and tag text of its streams are fixed at
 * resolve, so that a key always identifies the same bytes.
 */
export interface Resource extends PromisedConversions {
  /** Digest of the origin (`keys.ts`): the first part of every key of this resource. */
  readonly id: string;
  readonly origin: ResourceOrigin;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** As exact as known; absent if unknown or live. */
  readonly durationSeconds?: number;
  readonly isLive: boolean;
  /** Every upstream format that a rendition uses, once. */
  readonly tracks: readonly Track[];
  /** Offered renditions, video before audio, each best first. Conversions are listed in `PromisedConversions`. */
  readonly renditions: readonly Rendition[];
  /** The album, or the list on whose page the item was found. */
  readonly album?: string;
  /** Place in it, from 1. */
  readonly trackNumber?: number;
  /** Tag of a conversion whose size was promised before the title changed. Absent: title, author and so on. */
  readonly tag?: FrozenText;
  /** Renditions of earlier resolves that the last one did not offer; their keys remain valid. */
  readonly withdrawn?: readonly Rendition[];
  /**
   * Bytes of renditions by rendition id, where resolving does not tell them: of pairs as the layout of their stream has them,
   * of files as their source has said or sent. Absent until a stream was opened, and after a resolve that found other files.
   */
  readonly exactSizes?: Readonly<Record<string, number>>;
  /** Files of `tracks` with the subtitles, best first. Absent: none. */
  readonly subtitles?: readonly Subtitle[];
  /** What only GetDetails answers. */
  readonly details?: Details;
  /** The outgoing identity that resolved it last: many sources bind URLs to the client address. */
  readonly egress: string;
  /** Some formats could not be read, for a reason that may pass: another resolve may offer others. Fresh for a short time. */
  readonly isIncomplete?: true;
  /** Epoch seconds. Until then GetResource answers from the table. */
  readonly freshUntil: number;
  /** Epoch seconds from which the resource and its keys are invalid, even if the table has not deleted the item yet. */
  readonly expiresAt: number;
}

/** Where a resource was found: the URL to resolve again, and the item of the result. */
export interface ResourceOrigin {
  /** WHATWG form, without userinfo and fragment. */
  readonly url: string;
  /** yt-dlp's `extractor_key`. */
  readonly extractor: string;
  /** yt-dlp's `id` of the item. */
  readonly entryId: string;
  /** Entries before the page of the list that the item came with. Ids are unique within a page. @default 0 */
  readonly offset?: number;
  /**
   * The list whose metadata replaces the item's own, as in feeds. It separates resources of one item that different lists
   * describe differently.
   */
  readonly list?: string;
}

/** How an upstream sends a format: one file, an HLS media playlist, or DASH fragments; `track.ts` says what follows. */
export type Delivery = 'direct' | 'hls' | 'dash';

/** One upstream format and its last known URL: the file, the media playlist, or the manifest. */
export interface Track extends Omit<SourceTrack, 'id' | 'isLive' | 'renew'> {
  /** yt-dlp's `format_id`: the same across resolves of one resource. */
  readonly formatId: string;
  readonly delivery: Delivery;
  /** The site serves it to browsers, and may refuse other clients (yt-dlp's `impersonate`). Of subtitles only. */
  readonly isForBrowsers?: true;
  /** File format without a dot: `mp4`, `webm`, `mp3`, `ogg` … */
  readonly container: string;
  /** `null`: the track has no video, or no audio. Unknown traits are absent. */
  readonly video: VideoTraits | null;
  readonly audio: AudioTraits | null;
  readonly sizeIsExact: boolean;
  /** kbit/s, both sides together. */
  readonly bitrate?: number;
  readonly language?: string;
  /** yt-dlp's one-line description of the format. */
  readonly description?: string;
  /** The part of a live stream that a request is for; never stored. */
  readonly window?: TrackWindow;
  /** Of a request for a complete list of segments; never stored. `null`: it makes no file, or nobody knows yet. */
  readonly file?: TrackFile | null;
}

/** Segments of a live track that are read in place of its newest ones. */
export interface TrackWindow {
  /** The item as it is stored. */
  readonly resource: Resource;
  /** Sequence numbers, both included. */
  readonly first: number;
  readonly last: number;
  /** Which bytes of a single segment: its own, or its initialization section. Absent: both, joined. */
  readonly part?: 'content' | 'init';
  /** Epoch milliseconds, where the list states it. */
  readonly recordedAtMs?: number;
}

export interface VideoTraits {
  /** RFC 6381 string or a short name: `avc1.64001f`, `vp9`, `av01…`. */
  readonly codec?: string;
  readonly height?: number;
  readonly width?: number;
  readonly fps?: number;
}

export interface AudioTraits {
  readonly codec?: string;
  /** Hz. */
  readonly sampleRate?: number;
  /** kbit/s. */
  readonly bitrate?: number;
}

/** What audio is besides its language. `drc`: its dynamic range is compressed. */
export type AudioVersion = 'original' | 'dubbed' | 'descriptive' | 'drc';

/** A rendition as GetResource lists it, under `video` or `audio`. */
export interface Rendition {
  /** Digest of side and tracks (`keys.ts`): the second part of its key. */
  readonly id: string;
  readonly side: 'video' | 'audio';
  /** Media: one track. Combined: video, then audio. */
  readonly urlType: 'Media' | 'Combined';
  readonly formatIds: readonly [string] | readonly [string, string];
  readonly label: string;
  readonly description: string | null;
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** Bytes, exact or approximate as the source says; Combined: the sum, see also `Resource.exactSizes`. */
  readonly sizeBytes?: number;
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
  /** The most serious first. Absent: none, or stored by a version that did not know them. */
  readonly flaws?: readonly Flaw[];
  /** The language of its audio, as BCP 47. Absent: unknown. */
  readonly language?: string;
  /** What its audio is, as the source tells. Absent: nothing of these. */
  readonly versions?: readonly AudioVersion[];
  /**
   * A dub, an audio description or a compressed copy beside better audio: GetDetails lists it, and `audio` of GetResource
   * does not. Its key is as good as any.
   */
  readonly isAlternate?: true;
}

/**
 * Why a rendition is worse than its resolution or bitrate says: refused after its first minute, possibly DRM protected, for browsers only, damaged or
 * unplayable, its picture invented from a smaller one, with a watermark; its audio ranks as an audio description or a dub, or its voices
 * are boosted. What the source tells of the audio, such as a compressed dynamic range, is in `versions`.
 */
export type Flaw =
  | 'partial'
  | 'protected'
  | 'browsers'
  | 'damaged'
  | 'upscaled'
  | 'watermarked'
  | 'description'
  | 'dub'
  | 'boosted';

/** A subtitle file, which is a track without video and audio. */
export interface Subtitle {
  /** Digest of language and kind (`keys.ts`): the second part of its key. */
  readonly id: string;
  readonly formatId: string;
  /** As the source names it, usually BCP 47: `en`, `pt-BR`. */
  readonly language: string;
  readonly name?: string;
  /** Made by speech recognition. */
  readonly isAutomatic: boolean;
}

/** Metadata besides title, author and cover. All texts and lists are bounded. */
export interface Details {
  readonly description?: string;
  /** ISO 8601: `2026-11-22`. */
  readonly uploadDate?: string;
  readonly tags?: readonly string[];
  readonly chapters?: readonly Chapter[];
  readonly thumbnails?: readonly Thumbnail[];
}

export type Chapter = ChapterMark;

export interface Thumbnail {
  readonly url: string;
  /** Pixels. */
  readonly width?: number;
  readonly height?: number;
}

/** Offered conversions by name, such as `mp3`. Fixed at resolve. */
export type PromisedConversions = { readonly [Name in ConversionName]?: PromisedConversion };

interface PromisedConversion {
  /** The Media rendition whose key carries the conversion. */
  readonly renditionId: string;
  /** Bytes, exact when the duration is known. */
  readonly sizeBytes?: number;
}

/** The result of resolving a link, which repeated requests read instead of resolving again. */
export type Link = MediaLink | PlaylistLink | StalledLink;

interface LinkBase {
  /** Digest of the URL (`keys.ts`). */
  readonly id: string;
  /** WHATWG form, without userinfo and fragment. */
  readonly url: string;
  /** Epoch seconds until which it is not resolved again. */
  readonly freshUntil: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

interface MediaLink extends LinkBase {
  readonly type: 'Media';
  readonly resourceId: string;
}

/** A link that has timed out. What it leads to replaces this once it is resolved. */
export interface StalledLink extends LinkBase {
  readonly type: 'Stalled';
  /** Hashed clients, and until when (epoch seconds) each receives this failure. */
  readonly clients: readonly { readonly name: string; readonly until: number }[];
}

/** A list of resources. Repeated requests resolve its missing entries. */
export interface PlaylistLink extends LinkBase {
  readonly type: 'PlayList';
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  readonly entries: readonly PlaylistEntry[];
  /** Entries of the list at its source. */
  readonly totalEntries?: number;
  /** Entries before the first one of this page. @default 0 */
  readonly offset?: number;
  /** Entries before the next page. Absent: the list ends here. */
  readonly nextOffset?: number;
  /** One-based places in the list of entries that `entries` omits, ascending. */
  readonly unavailable?: readonly number[];
  /** What is known of them. */
  readonly unavailableEntries?: readonly UnavailableEntry[];
}

/** An entry of a list that is gone, private or protected. */
export interface UnavailableEntry {
  /** One-based place in the list at its source. */
  readonly number: number;
  readonly url: string;
  readonly title: string | null;
  /** Name of the problem type. */
  readonly reason: string;
}

export interface PlaylistEntry {
  /** The URL by which the entry is resolved. */
  readonly url: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Absent until the entry is resolved. */
  readonly resourceId?: string;
  /** The metadata of the list replaces the item's own. */
  readonly isNamedByList?: true;
  /** The number of the chapter that an archive has of the item. Absent: the item. */
  readonly chapter?: number;
}

/** A list whose entries are streamed as one archive, by its key. Kept as long as a resource. */
export interface ArchivedList {
  /** Digest of the link (`keys.ts`), and the key of the archive. */
  readonly id: string;
  /** The link as resolved. */
  readonly url: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly entries: readonly PlaylistEntry[];
  /** As those of the page of the list. */
  readonly offset?: number;
  readonly nextOffset?: number;
  /** One-based places in the list of entries that `entries` omits, ascending. */
  readonly unavailable?: readonly number[];
  /** What the archive has of them. Absent: all. */
  readonly selected?: EntrySelection;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * The subtitles in a language, by people before automatic ones. Without a language, in the one that is spoken: automatic
 * captions are in that language, and some tracks name it.
 * @param language BCP 47 in any case; `en` finds `en-US` too
 * @throws InvalidParameter, which lists the languages
 */
export function chooseSubtitle({ subtitles = [], tracks }: Resource, language?: string): Subtitle {
  const byPeople = subtitles.toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic));
  const find = (wanted = '') =>
    byPeople.find((each) => each.language.toLowerCase() === wanted.toLowerCase()) ??
    byPeople.find((each) => primaryOf(each.language) === primaryOf(wanted));
  const spoken = [
    // YouTube's `en-orig` is `en`, in which there may be some by people.
    subtitles.find(({ isAutomatic }) => isAutomatic)?.language.replace(/-orig$/, ''),
    tracks.find((track) => track.audio && track.language)?.language,
    'en',
  ];
  const found = language ? find(language) : [...spoken.map(find), ...byPeople].find(Boolean);
  if (found) return found;
  const languages = [...new Set(subtitles.map((each) => each.language))].join(', ');
  throw new InvalidParameter(
    languages ? `No subtitles in ${language}. Available: ${languages}.` : 'The media has no subtitles.',
  );
}

const primaryOf = (language: string): string => language.toLowerCase().split(/[-_]/, 1)[0] ?? '';
