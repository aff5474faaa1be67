import {
  type ConversionName,
  findConversionName,
  MP3_BITRATES_KBPS,
  type Mp3BitrateKbps,
} from '../conversions/index.ts';
import { problems } from './problem.ts';

/** What Media sends of a rendition. */
export interface MediaParameters {
  /** Absent: as it is. */
  readonly format?: ConversionName;
  /** The bit rate of MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** With title, artist, cover and so on, where the output has room for them. */
  readonly hasTags: boolean;
  /** Absent: all of it. */
  readonly clip?: ClipParameters;
  /** The language of subtitles to embed. */
  readonly subtitles?: string;
}

/** A query parameter as it was decoded; a repeated one is an array. */
type Value = string | string[] | undefined;

/** A decoded query. */
export type Query = Readonly<Record<string, Value>>;

/** A query without its blank values: a form sends each field that is left empty, and means none by it. */
export function withoutBlanks(query: Query): Query {
  const filled = Object.entries(query).flatMap(([name, value = []]): [string, string | string[]][] => {
    const [first, ...more] = [value].flat().filter((one) => one.trim() !== '');
    return first === undefined ? [] : [[name, more.length === 0 ? first : [first, ...more]]];
  });
  return Object.fromEntries(filled);
}

/**
 * Parses the parameters of Media. An unknown `format` has no effect: existing clients send such values.
 * @throws Problem 400 for an unsupported bit rate, for a bit rate without `format=mp3`, for `tags` other than true or
 * false, and for an invalid clip or language
 */
export function parseMediaParameters(query: Query): MediaParameters {
  const format = findConversionName([query.format].flat()[0]);
  const bitrateKbps = parseBitrate(query.bitrate);
  if (bitrateKbps !== undefined && format !== 'mp3') throw problems.badRequest('bitrate needs format=mp3');
  const subtitles = parseSubtitlesParameter(query.subtitles);
  return { format, bitrateKbps, hasTags: parseTags(query.tags), clip: parseClipParameters(query), subtitles };
}

/** The query of Media that `parseMediaParameters` reads as these parameters. */
export function mediaQuery({ format, bitrateKbps, hasTags, clip, subtitles }: MediaParameters): URLSearchParams {
  const { startSeconds = 0, endSeconds = Number.POSITIVE_INFINITY } = clip ?? {};
  const isOpenEnded = endSeconds === Number.POSITIVE_INFINITY;
  return toQuery({
    format,
    bitrate: bitrateKbps,
    tags: hasTags || undefined,
    subtitles,
    start: clip && (startSeconds > 0 || isOpenEnded) ? startSeconds : undefined,
    end: isOpenEnded ? undefined : endSeconds,
  });
}

/** A query of the parameters that have a value, in their order. */
export const toQuery = (values: Readonly<Record<string, string | number | true | undefined>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );

/**
 * Parses the `bitrate` parameter, kbit/s.
 * @throws Problem 400 unless it is one of the bit rates, once, or absent
 */
export function parseBitrate(value: Value): Mp3BitrateKbps | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest('bitrate is given more than once');
  const bitrateKbps = MP3_BITRATES_KBPS.find((known) => String(known) === value);
  if (!bitrateKbps) throw problems.badRequest(`bitrate must be ${MP3_BITRATES_KBPS.join(', ')}, or absent`);
  return bitrateKbps;
}

/** Parses the `tags` parameter. @throws Problem 400 unless it is `true` or `false`, once, or absent */
export function parseTags(value: Value): boolean {
  if (value === undefined || value === 'false') return false;
  if (value === 'true') return true;
  throw problems.badRequest(Array.isArray(value) ? 'tags is given more than once' : 'tags must be true, or absent');
}

/** A part of a presentation in seconds. */
export interface ClipParameters {
  readonly startSeconds: number;
  /** Infinite: to the end. */
  readonly endSeconds: number;
}

/** Seconds: up to 11 days, to the microsecond. */
const SECONDS = /^\d{1,6}(?:\.\d{1,6})?$/;

/**
 * Parses the `start` and `end` parameters of Media; undefined without either.
 * @param query decoded; a repeated parameter is an array
 * @throws Problem 400 unless they are decimal numbers of seconds, once each, with the start before the end
 */
export function parseClipParameters(query: {
  readonly start?: Value;
  readonly end?: Value;
}): ClipParameters | undefined {
  if (query.start === undefined && query.end === undefined) return undefined;
  const startSeconds = parseSeconds('start', query.start) ?? 0;
  const endSeconds = parseSeconds('end', query.end) ?? Number.POSITIVE_INFINITY;
  if (endSeconds <= startSeconds) throw problems.badRequest('end must be later than start');
  return { startSeconds, endSeconds };
}

/** Parses the `start` parameter of Combined: seconds, undefined for the beginning. @throws Problem 400 as for Media */
export const parseStartParameter = (value: Value): number | undefined => parseSeconds('start', value) || undefined;

function parseSeconds(name: string, value: Value): number | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest(`${name} is given more than once`);
  if (!SECONDS.test(value)) throw problems.badRequest(`${name} must be a number of seconds, such as 12.5`);
  return Number(value);
}

/** A tag of BCP 47, or a language code of yt-dlp: `pt-BR`, `en-orig`. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * Parses the `subtitles` parameter of Media and Combined; undefined without it.
 * @throws Problem 400 unless it occurs once and has the form of a language
 */
export function parseSubtitlesParameter(value: Value): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest('subtitles is given more than once');
  if (!LANGUAGE.test(value)) throw problems.badRequest('subtitles must be a language, such as en');
  return value;
}
