import type { Cookie } from '../../http/index.ts';
import { duration } from '../../media/index.ts';
import type { AudioTraits, Delivery, Fragment, Track, VideoTraits } from '../../state/index.ts';
import { parseCookies } from './cookies.ts';
import { urlExpiresAt } from './url-expiry.ts';
import {
  type Info,
  infoList,
  isInfo,
  positiveInteger,
  positiveNumber,
  text,
  webUrl,
  withoutAbsent,
} from './yt-dlp-info.ts';

/** A track, and how much its language is wanted: the original or default one more than a dub or a description. */
export interface Candidate {
  readonly track: Track;
  /** yt-dlp's `language_preference`; -1 when nothing is said. */
  readonly languagePreference: number;
  /** All that yt-dlp saw was a link to a file: what it says of the file is a guess from its name. */
  readonly isBareLink: boolean;
}

/** yt-dlp's `protocol` → how the bytes come. What is not here (mhtml, rtmp, f4m, ism, ftp, websocket …) is not offered. */
const DELIVERIES: Readonly<Record<string, Delivery>> = {
  http: 'direct',
  https: 'direct',
  m3u8: 'hls',
  m3u8_native: 'hls',
  http_dash_segments: 'dash',
};

/** The stream service sets these itself, or they must not be repeated to another host. */
const OWN_HEADERS = /^(?:host|range|connection|cookie|accept-encoding|content-.*|transfer-encoding|proxy-.*)$/i;
/** The best of them: no site has as many, and the table's item has its bounds. */
const FORMATS_KEPT = 300;
/** Pieces of all formats with video, and of all without: a day of one, or some hours of many, best first. */
const FRAGMENTS_KEPT = { video: 150_000, audio: 50_000 };
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
/** yt-dlp's own default, and less than that. */
const UNSPECIFIED_LANGUAGE = -1;
const FOREIGN_LANGUAGE = -2;

/**
 * The formats of an item that can be streamed, best first as yt-dlp sorts them. An item without `formats` is its own
 * only format.
 * @param now epoch seconds
 */
export function readTracks(info: Info, now: number): Candidate[] {
  const formats = Array.isArray(info.formats) ? infoList(info.formats) : [{ format_id: '0', ...info }];
  const seen = new Set<string>();
  const readers = { cookies: createCookieReader(), fragments: createFragmentReader() };
  return formats
    .slice(-FORMATS_KEPT)
    .toReversed()
    .flatMap((format) => {
      const track = readTrack(format, info, now, readers);
      // The same file under a second name is no choice.
      const identity = track && identityOf(track);
      if (!track || !identity || seen.has(identity)) return [];
      seen.add(identity);
      return [{ track, languagePreference: languagePreference(format, info), isBareLink: info.direct === true }];
    });
}

/** All that is said of it but its name. Of its pieces, which may be many, where they begin and end. */
const identityOf = ({ formatId: _, description: __, fragments, ...track }: Track): string =>
  JSON.stringify([track, fragments?.length, fragments?.[0], fragments?.at(-1)]);

/** What one format says of its cookies, the next ones say too: they share what was read. */
function createCookieReader() {
  const read = new Map<string, readonly Cookie[]>();
  return (format: Info, url: string): readonly Cookie[] => {
    const [line, host] = [text(format.cookies) ?? '', new URL(url).hostname];
    const name = `${host} ${line}`;
    const cookies = read.get(name) ?? parseCookies(line, host);
    read.set(name, cookies);
    return cookies;
  };
}

/** What is read of one format with an eye on those before it. */
interface Readers {
  readonly cookies: ReturnType<typeof createCookieReader>;
  readonly fragments: ReturnType<typeof createFragmentReader>;
}

function readTrack(format: Info, info: Info, now: number, readers: Readers): Track | undefined {
  const url = webUrl(format.url);
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
    fragments,
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
      positiveNumber((positiveNumber(format.vbr) ?? 0) + (positiveNumber(format.abr) ?? 0)),
    durationSeconds: info.is_live === true ? undefined : seconds,
    language: text(format.language),
    description: text(format.format),
  });
}

function deliveryOf(format: Info, url: string): Delivery | undefined {
  const protocol = text(format.protocol) ?? (/\.m3u8$/i.test(new URL(url).pathname) ? 'm3u8_native' : 'https');
  return DELIVERIES[protocol];
}

/** `"none"` is a side that is absent; null is one of which nothing is known. */
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

function audioTraits(format: Info, alone: boolean): AudioTraits | null {
  if (format.acodec === 'none') return null;
  return withoutAbsent({
    codec: text(format.acodec),
    sampleRate: positiveInteger(format.asr),
    bitrate: positiveNumber(format.abr) ?? (alone ? positiveNumber(format.tbr) : undefined),
  });
}

/** Reads the pieces of formats until there are too many: a manifest of one line may name millions. */
function createFragmentReader() {
  const left = { ...FRAGMENTS_KEPT };
  return (format: Info, url: string, kind: keyof typeof left): Fragment[] | undefined => {
    const count = Array.isArray(format.fragments) ? format.fragments.length : 0;
    if (count > left[kind]) return undefined;
    left[kind] -= count;
    return readFragments(format, url);
  };
}

/** The pieces of a DASH representation; undefined when one of them is no URL we can ask for. */
function readFragments(format: Info, url: string): Fragment[] | undefined {
  const base = webUrl(format.fragment_base_url, url) ?? url;
  const fragments = infoList(format.fragments).flatMap((fragment) => {
    const piece = webUrl(fragment.url ?? fragment.path, base);
    return piece ? [{ url: piece, seconds: duration(fragment.duration) ?? 0 }] : [];
  });
  const isWhole = Array.isArray(format.fragments) && fragments.length === format.fragments.length;
  return isWhole && fragments.length > 0 ? fragments : undefined;
}

const readHeaders = (headers: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isInfo(headers) ? headers : {}).filter(
      (header): header is [string, string] =>
        typeof header[1] === 'string' &&
        /^[\w-]+$/.test(header[0]) &&
        !OWN_HEADERS.test(header[0]) &&
        !/\p{Cc}/u.test(header[1]),
    ),
  );

function languagePreference(format: Info, info: Info): number {
  if (typeof format.language_preference === 'number') return format.language_preference;
  const [language, original] = [text(format.language), text(info.language)];
  return language && original && language !== original ? FOREIGN_LANGUAGE : UNSPECIFIED_LANGUAGE;
}
