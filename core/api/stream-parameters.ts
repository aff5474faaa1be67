import {
  type ConversionName,
  findConversionName,
  MP3_BITRATES_KBPS,
  type Mp3BitrateKbps,
} from '../conversions/index.ts';
import { SEGMENT_CATEGORIES, type SegmentCategory } from '../media/skipping/index.ts';
import type { WindowTime, WindowTimes } from '../media/timeline/index.ts';
import { problems } from './problem.ts';

/** What is sent of the sound of a rendition, or of each entry of a list, and with which tags. */
export interface SoundParameters {
  /** The bit rate of MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** With title, artist, cover and so on, where the output has room for them. */
  readonly hasTags: boolean;
  /** The language of the audio, `original`, or `all`. Absent: as in the rendition. */
  readonly audio?: string;
  /** Segments to leave out. */
  readonly skip?: readonly SegmentCategory[];
  /** Segments to write as chapters, which are a part of the tags. */
  readonly mark?: readonly SegmentCategory[];
}

/** What Media sends of a rendition. */
export interface MediaParameters extends SoundParameters {
  /** Absent: as it is. */
  readonly format?: ConversionName;
  /** Absent: all of it. */
  readonly clip?: ClipParameters;
  /** A time range of a live stream's DVR window. @default the live edge */
  readonly window?: WindowParameters;
  /** The number of a chapter, from 1, in place of a clip. */
  readonly chapter?: number;
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

/** The one value of a parameter. @throws Problem 400 when it is given more than once */
function once(name: string, value: Value): string | undefined {
  if (Array.isArray(value)) throw problems.badRequest(`${name} is given more than once`);
  return value;
}

/**
 * Parses the parameters of Media. An unknown `format` has no effect: existing clients send such values.
 * @throws Problem 400 for a bit rate without `format=mp3`, an invalid clip, chapter or language, and as `parseSoundParameters`
 */
export function parseMediaParameters(query: Query): MediaParameters {
  const format = findConversionName([query.format].flat()[0]);
  const sound = parseSoundParameters(query);
  requireMarkable(sound, query);
  if (sound.bitrateKbps !== undefined && format !== 'mp3') throw problems.badRequest('bitrate needs format=mp3');
  return { format, ...sound, ...parsePartParameters(query), subtitles: parseSubtitlesParameter(query.subtitles) };
}

/**
 * @throws Problem 400 for an unsupported bit rate, `tags` other than true or false, and an invalid language or category
 */
export function parseSoundParameters(query: Query): SoundParameters {
  const mark = parseSegmentsParameter('mark', query.mark);
  return {
    bitrateKbps: parseBitrate(query.bitrate),
    hasTags: parseTags(query.tags) || mark !== undefined,
    audio: parseAudioParameter(query.audio),
    skip: parseSegmentsParameter('skip', query.skip),
    mark,
  };
}

/**
 * Chapters that are marked are of the whole.
 * @throws Problem 400 for `mark` of a single chapter
 */
export function requireMarkable({ mark }: SoundParameters, { chapter }: Query): void {
  if (mark && chapter !== undefined)
    throw problems.badRequest('mark cannot be combined with chapter. Ask for the part by start and end.');
}

/** The query that `parseSoundParameters` reads as these; absent ones have their default. */
export const soundQuery = ({ bitrateKbps, hasTags, audio, skip, mark }: SoundParameters) => ({
  bitrate: bitrateKbps,
  tags: hasTags || undefined,
  audio,
  skip: skip?.join(),
  mark: mark?.join(),
});

/** The query of Media that `parseMediaParameters` reads as these parameters. */
export const mediaQuery = ({ format, clip, window, chapter, subtitles, ...sound }: MediaParameters): URLSearchParams =>
  toQuery({ format, subtitles, ...soundQuery(sound), ...windowQuery(window), ...(clip && clipQuery(clip)), chapter });

/** A query of the parameters that have a value, in their order. */
export const toQuery = (values: Readonly<Record<string, string | number | true | undefined>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );

/** kbit/s. */
function parseBitrate(value: Value): Mp3BitrateKbps | undefined {
  const text = once('bitrate', value);
  const bitrateKbps = MP3_BITRATES_KBPS.find((known) => String(known) === text);
  if (text !== undefined && !bitrateKbps)
    throw problems.badRequest(`bitrate must be ${MP3_BITRATES_KBPS.join(', ')}, or absent`);
  return bitrateKbps;
}

function parseTags(value: Value): boolean {
  const text = once('tags', value) ?? 'false';
  if (text !== 'true' && text !== 'false') throw problems.badRequest('tags must be true, or absent');
  return text === 'true';
}

/** A part of a live stream. */
export type WindowParameters =
  /** Media sequence numbers, both included. */
  | { readonly kind: 'segments'; readonly first: number; readonly last: number }
  | ({ readonly kind: 'times' } & WindowTimes);

/** The most segments of a window: a day of segments of a few seconds. */
export const MAX_WINDOW_SEGMENTS = 20_000;

const SEGMENTS = /^(\d{1,15})-(\d{1,15})$/;
const BEFORE_NOW = /^-\d{1,6}(?:\.\d{1,6})?$/;
/** ISO 8601 with a time zone; a `+` that was not encoded is a space. */
const TIME_OF_DAY = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+ -]\d\d:\d\d)$/i;

/**
 * Parses the parameters of Media and Get for a part: `start` and `end`, or for a live stream `segments`.
 * @throws Problem 400 for other forms than those of clips and windows, and for an end that is not later than its start
 */
export function parsePartParameters(query: Query): Pick<MediaParameters, 'clip' | 'window' | 'chapter'> {
  if (query.chapter !== undefined) return { chapter: parseChapter(query.chapter, query) };
  const [segments, start, end] = ['segments', 'start', 'end'].map((name) => once(name, query[name]));
  const times = { start: parseWindowTime('start', start), end: parseWindowTime('end', end) };
  if (segments !== undefined && (times.start ?? times.end) !== undefined)
    throw problems.badRequest('segments and a window by time exclude each other');
  if (segments !== undefined) return { window: parseSegments(segments), clip: parseClipParameters(query) };
  if (!times.start && !times.end) return { clip: parseClipParameters(query) };
  const isMixed = (start !== undefined && !times.start) || (end !== undefined && !times.end);
  if (isMixed) throw problems.badRequest('start and end of a window are negative seconds or times of day');
  requireOrder(times);
  return { window: { kind: 'times', ...times } };
}

function parseSegments(value: Value): WindowParameters {
  const [, first, last] = SEGMENTS.exec(String(value)) ?? [];
  if (first === undefined || last === undefined)
    throw problems.badRequest('segments must be media sequence numbers, such as 100-149');
  const window = { first: Number(first), last: Number(last) };
  if (window.last < window.first) throw problems.badRequest('segments must end with the later one');
  if (window.last - window.first >= MAX_WINDOW_SEGMENTS)
    throw problems.badRequest(`A window has at most ${MAX_WINDOW_SEGMENTS} segments`);
  return { kind: 'segments', ...window };
}

/** Undefined for what may be seconds of a clip. @throws Problem 400 for a time that does not exist */
function parseWindowTime(name: string, value: Value): WindowTime | undefined {
  const text = String(value);
  if (BEFORE_NOW.test(text)) return { secondsAgo: -Number(text) };
  if (!TIME_OF_DAY.test(text)) return undefined;
  const epochMs = Date.parse(text.replace(' ', '+'));
  if (Number.isNaN(epochMs))
    throw problems.badRequest(`${name} must be an ISO 8601 time with a zone, such as 2026-11-27T12:00:00Z`);
  return { epochMs };
}

function requireOrder({ start, end = { secondsAgo: 0 } }: WindowTimes): void {
  const order = (time: WindowTime | undefined, like: WindowTime) => {
    if (!time || 'epochMs' in time !== 'epochMs' in like) return undefined;
    return 'epochMs' in time ? time.epochMs : -time.secondsAgo;
  };
  const [from, until] = [order(start, end), order(end, end)];
  if (from !== undefined && until !== undefined && from >= until)
    throw problems.badRequest('end must be later than start');
}

function windowQuery(window: WindowParameters | undefined): Readonly<Record<string, string | undefined>> {
  if (window?.kind === 'segments') return { segments: `${window.first}-${window.last}` };
  const write = (time: WindowTime | undefined) =>
    time && ('epochMs' in time ? new Date(time.epochMs).toISOString() : `-${time.secondsAgo}`);
  return { start: write(window?.start), end: write(window?.end) };
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
export function parseClipParameters(query: Query): ClipParameters | undefined {
  if (query.start === undefined && query.end === undefined) return undefined;
  const startSeconds = parseSeconds('start', query.start) ?? 0;
  const endSeconds = parseSeconds('end', query.end) ?? Number.POSITIVE_INFINITY;
  if (endSeconds <= startSeconds) throw problems.badRequest('end must be later than start');
  return { startSeconds, endSeconds };
}

function clipQuery({ startSeconds, endSeconds }: ClipParameters) {
  const isOpenEnded = endSeconds === Number.POSITIVE_INFINITY;
  return {
    start: startSeconds > 0 || isOpenEnded ? startSeconds : undefined,
    end: isOpenEnded ? undefined : endSeconds,
  };
}

/** The number of a chapter: no item has as many. */
const CHAPTER = /^[1-9]\d{0,3}$/;

/** @throws Problem 400 unless it is a number from 1, once and without the other parameters of a part */
function parseChapter(value: Value, { segments, start, end }: Query): number {
  if ((segments ?? start ?? end) !== undefined)
    throw problems.badRequest('chapter cannot be combined with start, end and segments');
  const chapter = once('chapter', value) ?? '';
  if (!CHAPTER.test(chapter)) throw problems.badRequest('chapter must be the number of a chapter, from 1');
  return Number(chapter);
}

/** Parses the `start` parameter of Combined: seconds, undefined for the beginning. @throws Problem 400 as for Media */
export const parseStartParameter = (value: Value): number | undefined => parseSeconds('start', value) || undefined;

function parseSeconds(name: string, value: Value): number | undefined {
  const text = once(name, value);
  if (text !== undefined && !SECONDS.test(text))
    throw problems.badRequest(`${name} must be a number of seconds, such as 12.5`);
  return text === undefined ? undefined : Number(text);
}

/** A tag of BCP 47, or a language code of yt-dlp: `pt-BR`, `en-orig`. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * Parses the `subtitles` parameter of Media and Combined; undefined without it.
 * @throws Problem 400 unless it occurs once and has the form of a language
 */
export const parseSubtitlesParameter = (value: Value): string | undefined =>
  parseLanguage('subtitles', value, 'a language, such as en');

/**
 * Parses the `audio` parameter of streams, feeds and archives; undefined without it.
 * @throws Problem 400 unless it occurs once and has the form of a language, as `original` and `all` have
 */
export const parseAudioParameter = (value: Value): string | undefined =>
  parseLanguage('audio', value, 'a language, such as en, or original, or all');

function parseLanguage(name: string, value: Value, form: string): string | undefined {
  const text = once(name, value);
  if (text !== undefined && !LANGUAGE.test(text)) throw problems.badRequest(`${name} must be ${form}`);
  return text;
}

/** Categories, separated by commas. */
function parseSegmentsParameter(name: 'skip' | 'mark', value: Value): readonly SegmentCategory[] | undefined {
  const names = once(name, value)
    ?.split(',')
    .map((text) => text.trim().toLowerCase());
  const categories = names && SEGMENT_CATEGORIES.filter((category) => names.includes(category));
  if (categories && categories.length < new Set(names).size)
    throw problems.badRequest(`${name} must be of ${SEGMENT_CATEGORIES.join(', ')}, separated by commas`);
  return categories;
}
