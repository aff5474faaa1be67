import type { DashSegmentList } from '@reelay/seekable-media/dash';
import { duration, positiveInteger, positiveNumber, withoutAbsent } from '@reelay/seekable-media/values';
import type { SegmentOverrides } from '@reelay/source/track';
import { type Info, infoList, isInfo, text, webUrl } from '../../parsing/index.ts';
import {
  type AudioTraits,
  capabilitiesOf,
  type Delivery,
  findDelivery,
  type Track,
  type VideoTraits,
} from '../../state/index.ts';
import { type CookieReader, createCookieReader, readHeaders, urlExpiresAt } from './requests.ts';

/** What yt-dlp says of a format beyond the track itself: renditions are ranked by it, and stored with the flaws that follow. */
interface RankingFacts {
  /** yt-dlp's `preference`: the extractor's own rating, such as -1 for a re-encoded copy, -100 for an unplayable one. */
  readonly preference: number;
  /** yt-dlp's `source_preference`: lower for a worse server, and -2 for an HLS track that is not the default one. */
  readonly sourcePreference: number;
  /** yt-dlp's `quality`: the source's own scale, comparable within one item. */
  readonly quality: number;
  /** yt-dlp's `language_preference`: higher for the original language than for a dub or an audio description. */
  readonly languagePreference: number;
  /** The source states `languagePreference`: otherwise it follows from the languages of format and item, or is the default. */
  readonly statesLanguagePreference: boolean;
  /** `has_drm: "maybe"`: the manifest mentions DRM, and some of its formats can be read nevertheless. */
  readonly mayHaveDrm: boolean;
  /** yt-dlp's `impersonate`: the site requires the TLS of a browser, which media requests do not imitate. */
  readonly needsImpersonation: boolean;
  /** The site has made its picture from a smaller one. */
  readonly isUpscaled: boolean;
  /** The site has raised the voices in its audio. */
  readonly isVoiceBoosted: boolean;
  /** The source calls it a copy with a watermark. */
  readonly isWatermarked: boolean;
  /** The audio describes the picture to people who do not see it. */
  readonly isAudioDescription: boolean;
  /** The source calls the audio the original one. */
  readonly isOriginalAudio: boolean;
  /** The dynamic range of the audio is compressed (YouTube's "stable volume"). */
  readonly isDrc: boolean;
  /** The video has a high dynamic range. */
  readonly isHdr: boolean;
}

/** A track, and what is known about it only while it is selected. */
export interface Candidate extends RankingFacts {
  readonly track: Track;
  /** yt-dlp has only seen a link to a file: its description is a guess from the file name. */
  readonly isBareLink: boolean;
  /** Described by a page of any site through yt-dlp's generic extractor: its bytes may be anything. */
  readonly isGeneric?: boolean;
  /** Its extractor knows that it often cannot be downloaded: yt-dlp tries it before it selects it. */
  readonly isUntested?: boolean;
  /** Its host has refused what comes after the first minute. */
  readonly stopsEarly?: boolean;
  /** The multivariant playlist or manifest that lists the format. */
  readonly manifestUrl?: string;
}

/** Extractors that describe a file as any page declares it. */
const GENERIC_EXTRACTORS = /^(?:generic|html5mediaembed)$/i;
/** Longer URLs are not requested. */
const MAX_URL_CHARS = 8_192;
const AUDIO_CONTAINERS = /^(?:m4a|mp3|aac|ogg|oga|opus|flac|wav|mka|weba|aiff|wma|ac3|au)$/;

/** yt-dlp's defaults in its own sorting, and a language below its default. */
const UNSPECIFIED = { preference: 0, sourcePreference: -1, quality: -1, languagePreference: -1 };
const FOREIGN_LANGUAGE = -2;
/** yt-dlp's `language_preference` of an audio description. */
const DESCRIPTION_LANGUAGE_PREFERENCE = -10;

const AUDIO_DESCRIPTION =
  /\baudio.?descri|\bdescri(?:ptive|bed)\b|\bdescriptions?\b|audiodeskription|h[oö]rfilm|audiodescripci[oó]n|audiodescrizione|\bvisually impaired\b/i;
const WATERMARKED = /(?<!\b(?:no|without|non|un)[ -]?)watermark(?:ed)?\b(?!-free)/i;
/** YouTube's ids after the number: elsewhere they are languages, such as Serbian. */
const [UPSCALED_ID, VOICE_BOOST_ID] = [/^\d+-sr\b/, /^\d+-vb\b/];
const [UPSCALED, VOICE_BOOST] = [/\bAI[- ]upscaled\b/i, /\bvoice[- ]?boost/i];
const ORIGINAL = /\borig/i;
const DRC = /(?:^|[^a-z])drc(?:$|[^a-z])/i;
const HDR_CODEC = /^(?:vp0?9\.0?2|dv(?:h1|he|av|a1))/i;
const HDR_NOTE = /\bhdr(?:10\+?)?\b/i;

/**
 * The formats of an item that can be streamed, best first as yt-dlp sorts them, of what `readExtraction` has kept. An item
 * without `formats` is itself the only format.
 * @param now epoch seconds
 */
export function readTracks(info: Info, now: number): Candidate[] {
  const formats = Array.isArray(info.formats) ? infoList(info.formats) : [info];
  const identities = new Set<string>();
  const formatIds = new Set<string>();
  const readCookies = createCookieReader();
  return formats.toReversed().flatMap((format) => {
    const track = readTrack(format, { info, now, readCookies });
    if (!track) return [];
    // The same file under a second format id is not another rendition, and a second file of one id has no key of its own.
    const identity = identityOf(track);
    if (identities.has(identity) || formatIds.has(track.formatId)) return [];
    identities.add(identity);
    formatIds.add(track.formatId);
    const manifestUrl = webUrl(format.manifest_url);
    return [
      {
        track,
        isBareLink: info.direct === true,
        isGeneric: GENERIC_EXTRACTORS.test(text(info.extractor_key) ?? ''),
        ...(format.__needs_testing === true && { isUntested: true }),
        ...(manifestUrl && { manifestUrl }),
        ...readRankingFacts(format, info),
      },
    ];
  });
}

/** All fields but its name. Of fragments, which may be many, only their first and last URLs, and how long they are. */
function identityOf({ formatId: _, description: __, fragments, ...track }: Track): string {
  const { urls } = fragments ?? { urls: '' };
  return JSON.stringify([track, urls.length, urls.split('\n', 1), urls.slice(urls.lastIndexOf('\n') + 1)]);
}

interface TrackContext {
  readonly info: Info;
  /** Epoch seconds. */
  readonly now: number;
  readonly readCookies: CookieReader;
}

function readTrack(format: Info, { info, now, readCookies }: TrackContext): Track | undefined {
  const url = webUrl(format.url);
  if (url && url.length > MAX_URL_CHARS) return undefined;
  const delivery = url && deliveryOf(format, url);
  if (!url || !delivery || format.has_drm === true || format.request_data === true) return undefined;

  const container = (text(format.ext) ?? 'mp4').toLowerCase();
  const video = videoTraits(format, container);
  const audio = audioTraits(format, video === null);
  if (!video && !audio) return undefined;

  const { isFile, isListedByResolving } = capabilitiesOf({ delivery });
  const fragments = isListedByResolving ? readFragments(format, url) : undefined;
  if (isListedByResolving && !fragments) return undefined;
  const overrides = isFile ? {} : readSegmentOverrides(format);
  if (!overrides) return undefined;

  const seconds = duration(format.duration) ?? duration(info.duration);
  const exactSize = isFile ? positiveNumber(format.filesize) : undefined;
  const size = exactSize ?? positiveNumber(format.filesize) ?? positiveNumber(format.filesize_approx);
  return withoutAbsent({
    formatId: text(format.format_id) ?? '0',
    delivery,
    url,
    fragments: fragments?.fragments,
    fragmentBaseUrl: fragments?.fragmentBaseUrl,
    headers: readHeaders(format.http_headers ?? info.http_headers),
    cookies: readCookies(format, url),
    chunkBytes: isInfo(format.downloader_options)
      ? positiveNumber(format.downloader_options.http_chunk_size)
      : undefined,
    urlExpiresAt: urlExpiresAt(url, now),
    availableAt: futureTime(format.available_at, now),
    overrides: Object.keys(overrides).length > 0 ? overrides : undefined,
    container,
    video,
    audio,
    sizeBytes: size === undefined ? undefined : Math.ceil(size),
    sizeIsExact: exactSize !== undefined,
    bitrate:
      positiveNumber(format.tbr) ??
      positiveNumber((positiveNumber(format.vbr) ?? 0) + (positiveNumber(format.abr) ?? 0)) ??
      averageBitrate(size, seconds),
    durationSeconds: info.is_live === true ? undefined : seconds,
    language: text(format.language),
    description: text(format.format),
  });
}

/** YouTube states the moment of formats without a wait, too: it has passed. */
function futureTime(value: unknown, now: number): number | undefined {
  const time = positiveNumber(value);
  return time !== undefined && time > now ? time : undefined;
}

/** kbit/s: some sources state only sizes. */
const averageBitrate = (bytes: number | undefined, seconds: number | undefined): number | undefined =>
  bytes && seconds ? positiveNumber((bytes * 8) / seconds / 1000) : undefined;

function deliveryOf(format: Info, url: string): Delivery | undefined {
  const protocol = text(format.protocol) ?? (/\.m3u8$/i.test(new URL(url).pathname) ? 'm3u8_native' : 'https');
  return findDelivery(protocol);
}

/** yt-dlp writes `"none"` for a missing video or audio track, and null for an unknown codec. */
function videoTraits(format: Info, container: string): VideoTraits | null {
  if (format.vcodec === 'none') return null;
  const codec = text(format.vcodec);
  if (!codec && (format.resolution === 'audio only' || AUDIO_CONTAINERS.test(container))) return null;
  return withoutAbsent({
    codec,
    height: positiveInteger(format.height),
    width: positiveInteger(format.width),
    fps: positiveNumber(format.fps),
  });
}

function audioTraits(format: Info, isAudioOnly: boolean): AudioTraits | null {
  if (format.acodec === 'none') return null;
  return withoutAbsent({
    codec: text(format.acodec),
    sampleRate: positiveInteger(format.asr),
    bitrate: positiveNumber(format.abr) ?? (isAudioOnly ? positiveNumber(format.tbr) : undefined),
  });
}

/** The fragments of a DASH format, with the URL that they are relative to. */
function readFragments(format: Info, url: string): Pick<Track, 'fragments' | 'fragmentBaseUrl'> | undefined {
  const fragmentBaseUrl = webUrl(format.fragment_base_url, url) ?? url;
  const isReduced = isInfo(format.fragments) && fragmentBaseUrl.length <= MAX_URL_CHARS;
  return isReduced ? { fragments: format.fragments as unknown as DashSegmentList, fragmentBaseUrl } : undefined;
}

/** Whether a text about a format, such as yt-dlp's description, calls its audio an audio description. */
export const namesAudioDescription = (text: string): boolean => AUDIO_DESCRIPTION.test(text);

/** Reads from a format of an item what ranks it. Unknown figures are yt-dlp's defaults. */
export function readRankingFacts(format: Info, info: Info): RankingFacts {
  const note = text(format.format_note) ?? '';
  const id = text(format.format_id) ?? '';
  const languagePreference = languagePreferenceOf(format, info);
  const isYouTube = /^youtube/i.test(text(info.extractor_key) ?? '');
  return {
    preference: finite(format.preference, UNSPECIFIED.preference),
    sourcePreference: finite(format.source_preference, UNSPECIFIED.sourcePreference),
    quality: finite(format.quality, UNSPECIFIED.quality),
    languagePreference,
    statesLanguagePreference: finite(format.language_preference, undefined) !== undefined,
    mayHaveDrm: format.has_drm === 'maybe',
    needsImpersonation: format.impersonate === true,
    isUpscaled: UPSCALED.test(note) || (isYouTube && UPSCALED_ID.test(id)),
    isVoiceBoosted: VOICE_BOOST.test(note) || (isYouTube && VOICE_BOOST_ID.test(id)),
    isWatermarked: WATERMARKED.test(note) || WATERMARKED.test(id),
    isAudioDescription: languagePreference <= DESCRIPTION_LANGUAGE_PREFERENCE || AUDIO_DESCRIPTION.test(note),
    isOriginalAudio: ORIGINAL.test(note),
    isDrc: DRC.test(note) || DRC.test(id),
    isHdr: isHdr(format, note),
  };
}

/** yt-dlp writes SDR where it knows nothing else: codec and note count as well. */
function isHdr(format: Info, note: string): boolean {
  const range = text(format.dynamic_range) ?? 'SDR';
  return range.toUpperCase() !== 'SDR' || HDR_CODEC.test(text(format.vcodec) ?? '') || HDR_NOTE.test(note);
}

function languagePreferenceOf(format: Info, info: Info): number {
  const stated = finite(format.language_preference, undefined);
  if (stated !== undefined) return stated;
  const [language, original] = [text(format.language), text(info.language)];
  return language && original && language !== original ? FOREIGN_LANGUAGE : UNSPECIFIED.languagePreference;
}

/** Infinity would make differences of two candidates NaN. */
const finite = <Default>(value: unknown, otherwise: Default): number | Default =>
  Number.isFinite(value) ? (value as number) : otherwise;

/** Hexadecimal digits of an AES-128 key, and of an initialization vector. */
const DIGITS = 32;

/**
 * What an extractor says of the segments and keys of a format, in place of its playlist.
 * @returns undefined when the key or the initialization vector is not one of AES-128: the media cannot be decrypted
 */
export function readSegmentOverrides(format: Info): SegmentOverrides | undefined {
  const aes = isInfo(format.hls_aes) ? format.hls_aes : {};
  const key = hexadecimal(aes.key, DIGITS);
  // Leading zeros of a number may be missing.
  const iv = hexadecimal(aes.iv, 1);
  if (key === '' || iv === '') return undefined;
  return withoutAbsent<SegmentOverrides>({
    segmentQuery: text(format.extra_param_to_segment_url),
    keyQuery: text(format.extra_param_to_key_url),
    keyUrl: webUrl(aes.uri),
    key,
    iv,
  });
}

/** The digits without `0x`, with leading zeros; empty for a text that has not as many. */
function hexadecimal(value: unknown, minDigits: number): string | undefined {
  const written = text(value);
  if (written === undefined) return undefined;
  const digits = /^(?:0x)?([\da-f]+)$/i.exec(written)?.[1] ?? '';
  return digits.length >= minDigits && digits.length <= DIGITS ? digits.padStart(DIGITS, '0') : '';
}
