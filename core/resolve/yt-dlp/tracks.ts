import { duration } from '../../media/index.ts';
import type { AudioTraits, Delivery, Fragment, Track, VideoTraits } from '../../state/index.ts';
import { createCookieReader } from './cookies.ts';
import { type RankingFacts, readRankingFacts } from './ranking-facts.ts';
import {
  type Info,
  infoList,
  isInfo,
  positiveInteger,
  positiveNumber,
  text,
  urlExpiresAt,
  webUrl,
  withoutAbsent,
} from './yt-dlp-info.ts';

/** A track, and what is known about it only while it is selected. */
export interface Candidate extends RankingFacts {
  readonly track: Track;
  /** yt-dlp has only seen a link to a file: its description is a guess from the file name. */
  readonly isBareLink: boolean;
  /** Described by a page of any site through yt-dlp's generic extractor: its bytes may be anything. */
  readonly isGeneric?: boolean;
  /** The multivariant playlist or manifest that lists the format. */
  readonly manifestUrl?: string;
}

/** By yt-dlp's `protocol`. Others (mhtml, rtmp, f4m, ism, ftp, websocket …) are not supported. */
const DELIVERIES: Readonly<Record<string, Delivery>> = {
  http: 'direct',
  https: 'direct',
  m3u8: 'hls',
  m3u8_native: 'hls',
  http_dash_segments: 'dash',
};

/** Extractors that describe a file as any page declares it. */
const GENERIC_EXTRACTORS = /^(?:generic|html5mediaembed)$/i;
/** Set by the stream service itself, or not to be sent to another host. */
const EXCLUDED_HEADERS = /^(?:host|range|connection|cookie|accept-encoding|content-.*|transfer-encoding|proxy-.*)$/i;
/** The best formats of an item: more do not fit in a table item. */
const MAX_FORMATS = 300;
/** DASH fragments of all formats of an item together: a day of one format, or some hours of many. */
const MAX_FRAGMENTS = { video: 150_000, audio: 50_000 };
/** Characters of the URLs of all these fragments, each as written, and of their bases. */
const MAX_FRAGMENT_CHARS = 16 * 1024 * 1024;
/** Of one URL. Longer ones are not requested. */
const MAX_URL_CHARS = 8_192;
const AUDIO_CONTAINERS = new Set([
  'm4a',
  'mp3',
  'aac',
  'ogg',
  'oga',
  'opus',
  'flac',
  'wav',
  'mka',
  'weba',
  'aiff',
  'wma',
]);
/**
 * The formats of an item that can be streamed, best first as yt-dlp sorts them. An item without `formats` is itself the only
 * format.
 * @param now epoch seconds
 */
export function readTracks(info: Info, now: number): Candidate[] {
  const formats = Array.isArray(info.formats) ? infoList(info.formats) : [info];
  const identities = new Set<string>();
  const formatIds = new Set<string>();
  const readers = { cookies: createCookieReader(), fragments: createFragmentReader() };
  return formats
    .slice(-MAX_FORMATS)
    .toReversed()
    .flatMap((format) => {
      const track = readTrack(format, info, now, readers);
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
          ...(manifestUrl && { manifestUrl }),
          ...readRankingFacts(format, info),
        },
      ];
    });
}

/** All fields but its name. Of fragments, which may be many, only count, first and last. */
const identityOf = ({ formatId: _, description: __, fragments, ...track }: Track): string =>
  JSON.stringify([track, fragments?.length, fragments?.[0], fragments?.at(-1)]);

/** Readers with state shared by the formats of one item. */
interface Readers {
  readonly cookies: ReturnType<typeof createCookieReader>;
  readonly fragments: ReturnType<typeof createFragmentReader>;
}

function readTrack(format: Info, info: Info, now: number, readers: Readers): Track | undefined {
  const url = webUrl(format.url);
  if (url && url.length > MAX_URL_CHARS) return undefined;
  const delivery = url && deliveryOf(format, url);
  if (!url || !delivery || format.has_drm === true) return undefined;

  const container = (text(format.ext) ?? 'mp4').toLowerCase();
  const video = videoTraits(format, container);
  const audio = audioTraits(format, video === null);
  if (!video && !audio) return undefined;

  const fragments = delivery === 'dash' ? readers.fragments(format, url, video ? 'video' : 'audio') : undefined;
  if (delivery === 'dash' && !fragments) return undefined;

  const seconds = duration(format.duration) ?? duration(info.duration);
  const exactSize = delivery === 'direct' ? positiveNumber(format.filesize) : undefined;
  const size = exactSize ?? positiveNumber(format.filesize) ?? positiveNumber(format.filesize_approx);
  return withoutAbsent({
    formatId: text(format.format_id) ?? '0',
    delivery,
    url,
    fragments: fragments?.fragments,
    fragmentBaseUrl: fragments?.fragmentBaseUrl,
    headers: readHeaders(format.http_headers ?? info.http_headers),
    cookies: readers.cookies(format, url),
    chunkBytes: isInfo(format.downloader_options)
      ? positiveNumber(format.downloader_options.http_chunk_size)
      : undefined,
    urlExpiresAt: urlExpiresAt(url, now),
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

/** kbit/s: some sources state only sizes. */
const averageBitrate = (bytes: number | undefined, seconds: number | undefined): number | undefined =>
  bytes && seconds ? positiveNumber((bytes * 8) / seconds / 1000) : undefined;

function deliveryOf(format: Info, url: string): Delivery | undefined {
  const protocol = text(format.protocol) ?? (/\.m3u8$/i.test(new URL(url).pathname) ? 'm3u8_native' : 'https');
  return DELIVERIES[protocol];
}

/** yt-dlp writes `"none"` for a missing video or audio track, and null for an unknown codec. */
function videoTraits(format: Info, container: string): VideoTraits | null {
  if (format.vcodec === 'none') return null;
  const codec = text(format.vcodec);
  if (!codec && (format.resolution === 'audio only' || AUDIO_CONTAINERS.has(container))) return null;
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

type Fragments = Required<Pick<Track, 'fragments' | 'fragmentBaseUrl'>>;

/** Reads DASH fragments up to MAX_FRAGMENTS: a short manifest may expand to millions. */
function createFragmentReader() {
  const remaining = { ...MAX_FRAGMENTS };
  let remainingChars = MAX_FRAGMENT_CHARS;
  return (format: Info, url: string, kind: keyof typeof remaining): Fragments | undefined => {
    const count = Array.isArray(format.fragments) ? format.fragments.length : 0;
    if (count > remaining[kind]) return undefined;
    remaining[kind] -= count;
    const found = readFragments(format, url, remainingChars);
    remainingChars -= found?.chars ?? 0;
    return found && { fragments: found.fragments, fragmentBaseUrl: found.fragmentBaseUrl };
  };
}

/**
 * The fragments of a DASH representation, each as written: a long base is not repeated in all of them.
 * @returns undefined when they are files, when one of them has no http or https URL, and beyond `maxChars`
 */
function readFragments(format: Info, url: string, maxChars: number): (Fragments & { chars: number }) | undefined {
  const fragmentBaseUrl = webUrl(format.fragment_base_url, url) ?? url;
  if (isListOfFiles(format)) return undefined;
  if (!Array.isArray(format.fragments) || fragmentBaseUrl.length > MAX_URL_CHARS) return undefined;
  const { origin } = new URL(fragmentBaseUrl);
  let chars = fragmentBaseUrl.length;
  const fragments: Fragment[] = [];
  for (const fragment of infoList(format.fragments)) {
    const reference = fragment.url ?? fragment.path;
    if (typeof reference !== 'string' || reference.length > MAX_URL_CHARS) return undefined;
    chars += reference.length;
    // Whether a reference is valid does not depend on the path of its base: a short one saves time.
    if (chars > maxChars || !webUrl(reference, origin)) return undefined;
    fragments.push({ url: reference, seconds: duration(fragment.duration) ?? 0 });
  }
  const isComplete = fragments.length === format.fragments.length;
  return isComplete && fragments.length > 0 ? { fragments, fragmentBaseUrl, chars } : undefined;
}

/**
 * Whether the fragments are complete files, each with a header of its own, which do not make one file when they are joined:
 * the extractor of Bilibili describes FLV and MP4 files in parts so, with the size of each.
 */
const isListOfFiles = (format: Info): boolean =>
  text(format.ext)?.toLowerCase() === 'flv' || infoList(format.fragments).some(({ filesize }) => Boolean(filesize));

const readHeaders = (headers: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isInfo(headers) ? headers : {}).filter(
      (header): header is [string, string] =>
        typeof header[1] === 'string' &&
        /^[\w-]+$/.test(header[0]) &&
        !EXCLUDED_HEADERS.test(header[0]) &&
        !/\p{Cc}/u.test(header[1]),
    ),
  );
