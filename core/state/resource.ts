import type { ConversionName } from '../conversions/index.ts';
import type { Cookie } from '../http/index.ts';

/**
 * One resolved item as the table keeps it: what it is, and where it was last seen. What a stream promises (duration,
 * size, tag text) is frozen here at resolve, so that the same key gives the same bytes.
 */
export interface Resource extends PromisedConversions {
  /** Digest of the origin (`keys.ts`): the first part of every key of this resource. */
  readonly id: string;
  readonly origin: ResourceOrigin;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Seconds, as exact as is known; absent when unknown or live. */
  readonly durationSeconds?: number;
  readonly isLive: boolean;
  /** Every upstream format that a rendition uses, once. */
  readonly tracks: readonly Track[];
  /** What is offered, video before audio, each best first. Conversions are not in it: see `PromisedConversions`. */
  readonly renditions: readonly Rendition[];
  /** What the tag of a conversion says, where that was promised before the title changed. Absent: title and author. */
  readonly tag?: { readonly title: string | null; readonly artist: string | null };
  /** Renditions that were offered by earlier resolves, but not by the last: whoever has their keys may still use them. */
  readonly withdrawn?: readonly Rendition[];
  /** Which outgoing proxy resolved it (`egress` names them); links are bound to the address that resolved them. */
  readonly egress: string;
  /** Epoch seconds. Until then GetResource answers from the table. */
  readonly freshUntil: number;
  /** Epoch seconds. From then on the resource and its keys are gone, whether or not the table has deleted it. */
  readonly expiresAt: number;
}

/** What to resolve again, and which part of the answer this resource was. */
export interface ResourceOrigin {
  /** WHATWG form, without userinfo and fragment. */
  readonly url: string;
  /** yt-dlp's `extractor_key`. */
  readonly extractor: string;
  /** yt-dlp's `id` of the item. */
  readonly entryId: string;
  /**
   * The list that names the item otherwise than it names itself, as feeds do: what one list says of it is nothing that
   * others should hear.
   */
  readonly list?: string;
}

/** How an upstream sends a format: one file, an HLS media playlist, or DASH fragments. */
export type Delivery = 'direct' | 'hls' | 'dash';

/** One upstream format: what it is, and where it was last seen. */
export interface Track {
  /** yt-dlp's `format_id`: the same across resolves of one resource. */
  readonly formatId: string;
  readonly delivery: Delivery;
  /** The file, the media playlist, or the manifest. */
  readonly url: string;
  /** DASH only. Absent when the list was too long to keep: resolve again to have it. */
  readonly fragments?: readonly Fragment[];
  /** To send with every request for this track's bytes. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each only to the hosts and paths it belongs to. */
  readonly cookies: readonly Cookie[];
  /** The largest range the source gives at once, bytes (yt-dlp's `downloader_options.http_chunk_size`). */
  readonly chunkBytes?: number;
  /** Epoch seconds after which the URL is known to be dead. */
  readonly urlExpiresAt?: number;
  /** File format without a dot: `mp4`, `webm`, `mp3`, `ogg` … */
  readonly container: string;
  /** `null`: there is no such side. Traits that are not known are absent. */
  readonly video: VideoTraits | null;
  readonly audio: AudioTraits | null;
  /** Bytes. Only an exact figure may become a Content-Length. */
  readonly sizeBytes?: number;
  readonly sizeIsExact: boolean;
  /** kbit/s, both sides together. */
  readonly bitrate?: number;
  /** Seconds, from the container where it was read (then exact), else from the source's metadata. */
  readonly durationSeconds?: number;
  readonly language?: string;
  /** yt-dlp's one-line description of the format. */
  readonly description?: string;
}

/** A piece of a DASH representation. The initialization segment comes first and lasts 0 seconds. */
export interface Fragment {
  readonly url: string;
  readonly seconds: number;
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

/** One entry of what GetResource offers. `video` and `audio` say on which side it is listed. */
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
  /** Bytes, exact or approximate as the source says; Combined: the sum. */
  readonly sizeBytes?: number;
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
}

/** The conversions that are offered, each under its name: `mp3` … Frozen at resolve. */
export type PromisedConversions = { readonly [Name in ConversionName]?: PromisedConversion };

export interface PromisedConversion {
  /** The Media rendition whose key carries the conversion. */
  readonly renditionId: string;
  /** Bytes, exact when the duration is known. */
  readonly sizeBytes?: number;
}

/** What a link turned out to be, so that asking again needs no resolve. */
export type Link = MediaLink | PlaylistLink;

interface LinkBase {
  /** Digest of the URL (`keys.ts`). */
  readonly id: string;
  /** WHATWG form, without userinfo and fragment. */
  readonly url: string;
  /** Epoch seconds. Until then it need not be resolved again. */
  readonly freshUntil: number;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

export interface MediaLink extends LinkBase {
  readonly type: 'Media';
  readonly resourceId: string;
}

/** A list of resources, so that asking again completes it. */
export interface PlaylistLink extends LinkBase {
  readonly type: 'PlayList';
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  readonly entries: readonly PlaylistEntry[];
}

export interface PlaylistEntry {
  /** The entry's own URL: what it resolves by. */
  readonly url: string;
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Set once it is resolved. */
  readonly resourceId?: string;
  /** The list names it otherwise than it names itself. */
  readonly isNamedByList?: true;
}
