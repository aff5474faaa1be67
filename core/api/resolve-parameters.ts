import { type ConversionName, conversionNames, findConversionName } from '../conversions/index.ts';
import { parseJobId } from './archive-progress.ts';
import { problems } from './problem.ts';
import {
  type MediaParameters,
  parsePartParameters,
  parseSoundParameters,
  parseSubtitlesParameter,
  type Query,
  requireMarkable,
  type SoundParameters,
  soundQuery,
  toQuery,
  withoutBlanks,
} from './stream-parameters.ts';

/** Characters. */
const MAX_LINK_LENGTH = 4096;

/** The `url` parameter of the operations that resolve a link. */
export interface LinkParameter {
  /** An absolute http or https URL, trimmed. */
  readonly link: string;
  /** The value as sent, before trimming. */
  readonly sent: string;
}

/**
 * Parses the `url` parameter, decoded once. The first of several counts.
 * @param rawQuery the query string without its `?`, undecoded: ordinary form decoding, `+` is a space
 * @throws Problem 400 unless it is an absolute http or https URL with a host
 */
export function parseLinkParameter(rawQuery: string): LinkParameter {
  const sent = new URLSearchParams(rawQuery).get('url') ?? '';
  const link = sent.trim();
  if (link === '' || link.length > MAX_LINK_LENGTH) throw problems.badLink();
  // URL.parse repairs `http:host` and `http:///host`, which are malformed links.
  if (!/^https?:\/\/[^/?#\\]/i.test(link)) throw problems.badLink();
  const url = URL.parse(link);
  if (!url || url.hostname === '') throw problems.badLink();
  return { link, sent };
}

/** Which rendition of an item a client wants. */
export interface Selection {
  readonly quality: 'best' | 'worst' | 'audio' | 'mp3' | { readonly maxHeight: number };
  /** `compatible`: what any device plays is preferred. */
  readonly codec: 'compatible' | 'any';
}

const QUALITY_NAMES = ['best', 'worst', 'audio', 'mp3'] as const;
const HEIGHT = /^([1-9]\d{1,4})p$/;

/** Parameters as words in lower case. The first of a repeated one counts; a blank one is absent. */
type Words = Readonly<Record<string, string | undefined>>;

const wordsOf = (query: Query): Words =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, [value].flat()[0]?.trim().toLowerCase() || undefined]),
  );

/** @throws Problem 400 for an unknown quality or codec */
const parseSelection = (words: Words, defaultQuality: Selection['quality'] = 'best'): Selection => ({
  quality: words.quality === undefined ? defaultQuality : parseQuality(words.quality),
  codec: parseCodec(words.codec),
});

function parseQuality(text: string): Selection['quality'] {
  const name = QUALITY_NAMES.find((known) => known === text);
  const maxHeight = Number(HEIGHT.exec(text)?.[1]);
  if (name) return name;
  if (maxHeight > 0) return { maxHeight };
  throw problems.badRequest(`quality must be ${QUALITY_NAMES.join(', ')}, or a height such as 1080p`);
}

function parseCodec(text: string | undefined): Selection['codec'] {
  if (text === undefined) return 'compatible';
  if (text === 'any') return 'any';
  throw problems.badRequest('codec must be any, or absent');
}

/** The `quality` and `codec` parameters of a selection; absent ones have their default. */
const selectionQuery = ({ quality, codec }: Selection) => ({
  quality: typeof quality === 'string' ? quality : `${quality.maxHeight}p`,
  codec: codec === 'any' ? codec : undefined,
});

/** Parameters of Get besides `url`: those of Media and Archive, to which it redirects, and those that select a rendition. */
const GET_PARAMETERS = [
  'quality',
  'codec',
  'format',
  'bitrate',
  'tags',
  'subtitles',
  'audio',
  'start',
  'end',
  'skip',
  'mark',
  'chapter',
  'split',
  'from',
  'entries',
] as const;

/** What Get selects and how it is streamed. */
export interface GetParameters extends Selection, MediaParameters {
  /** The entries of a list as one file, instead of a rendition. */
  readonly archive?: ArchiveParameters;
  /** Which of them. */
  readonly entries?: EntrySelection;
  /** The chapters of an item are the entries. */
  readonly isSplit?: boolean;
}

/**
 * Parses the parameters of Get besides `url`. The first of repeated parameters counts; a blank one counts as missing.
 * @param rawQuery the query string without its `?`, undecoded
 * @throws Problem 400 for an unknown quality, codec, format, bit rate or `split`, or an invalid clip, chapter or `entries`
 */
export function parseGetParameters(rawQuery: string): GetParameters {
  const query = decodeQuery(rawQuery, GET_PARAMETERS);
  const words = wordsOf(query);
  const isSplit = parseSplit(words.split);
  // Files of chapters are told apart by their tags: they have them unless told otherwise.
  const tags = query.tags ?? (isSplit ? 'true' : undefined);
  const archive = words.format === ARCHIVE_FORMAT ? parseArchiveParameters({ ...query, tags }) : undefined;
  if (archive && (query.start ?? query.end ?? query.chapter) !== undefined)
    throw problems.badRequest('start, end and chapter apply to a file, and not to an archive');
  if (isSplit && !archive) throw problems.badRequest('split needs format=zip');
  const dropped = isSplit ? ['subtitles', 'mark'].find((name) => words[name] !== undefined) : undefined;
  if (dropped) throw problems.badRequest(`${dropped} cannot be combined with split=chapters`);
  if (archive) return { ...archive, format: undefined, archive, entries: parseEntries(words.entries), isSplit };
  const selection = parseSelection(words);
  const sound = parseSoundParameters(words);
  requireMarkable(sound, words);
  const format = parseFormat(words.format) ?? (sound.bitrateKbps && selection.quality === 'mp3' ? 'mp3' : undefined);
  if (sound.bitrateKbps && format !== 'mp3') throw problems.badRequest('bitrate needs quality=mp3 or format=mp3');
  const subtitles = parseSubtitlesParameter([query.subtitles].flat()[0]?.trim());
  return { ...selection, format, ...sound, ...parsePartParameters(query), subtitles };
}

function parseSplit(text: string | undefined): boolean {
  if (text !== undefined && text !== 'chapters') throw problems.badRequest('split must be chapters, or absent');
  return text !== undefined;
}

function decodeQuery(rawQuery: string, names: readonly string[]): Query {
  const query = new URLSearchParams(rawQuery);
  return withoutBlanks(Object.fromEntries(names.map((name) => [name, query.getAll(name)])));
}

function parseFormat(text: string | undefined): ConversionName | undefined {
  const format = findConversionName(text);
  if (text !== undefined && !format)
    throw problems.badRequest(`format must be ${[...conversionNames, ARCHIVE_FORMAT].join(', ')}, or absent`);
  return format;
}

const ARCHIVE_FORMAT = 'zip';

/** What is sent of each entry of a list. */
export interface EntryEncoding extends Selection, SoundParameters {}

/** What Archive streams of a list. */
export interface ArchiveParameters extends EntryEncoding {
  /** Number of the first entry, from 1. */
  readonly from: number;
  /** Reports its progress. */
  readonly jobId?: string;
}

/** Which entries of a list a client wants: ranges of their numbers, from 1, both ends included. Absent: all. */
export type EntrySelection = readonly (readonly [first: number, last: number])[];

export const isSelected = (number: number, ranges: EntrySelection | undefined): boolean =>
  !ranges || ranges.some(([first, last]) => first <= number && number <= last);

/** A number of an entry has at most six digits, since no list is longer. */
const NUMBER = /^[1-9]\d{0,5}$/;
/** Numbers and ranges: `1-3,7`. */
const RANGES = /^[1-9]\d{0,5}(?:-[1-9]\d{0,5})?(?:,[1-9]\d{0,5}(?:-[1-9]\d{0,5})?)*$/;

/** @throws Problem 400 unless it has the form of `1-3,7` */
function parseEntries(text: string | undefined): EntrySelection | undefined {
  if (text === undefined) return undefined;
  if (!RANGES.test(text)) throw problems.badRequest('entries must be numbers of entries, such as 1-3,7');
  return text.split(',').map((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return [first, last];
  });
}

/**
 * Parses the query of Archive. Of a repeated parameter the first counts.
 * @throws Problem 400 for an unknown format, quality, codec or bit rate, a `from` that is not the number of an entry, or an
 * invalid `jobId`
 */
export function parseArchiveParameters(query: Query): ArchiveParameters {
  const words = wordsOf(query);
  const encoding = parseEncoding(words);
  if ((words.format ?? ARCHIVE_FORMAT) !== ARCHIVE_FORMAT) throw problems.badRequest('format must be zip, or absent');
  const from = words.from ?? '1';
  if (!NUMBER.test(from)) throw problems.badRequest('from must be the number of an entry, such as 12');
  return { ...encoding, from: Number(from), jobId: parseJobId(query.jobId) };
}

/** What each entry of a list is sent as. @throws Problem 400 for a bit rate of anything but MP3 */
function parseEncoding(words: Words, defaultQuality?: Selection['quality']): EntryEncoding {
  const encoding = { ...parseSelection(words, defaultQuality), ...parseSoundParameters(words) };
  if (encoding.bitrateKbps && encoding.quality !== 'mp3') throw problems.badRequest('bitrate needs quality=mp3');
  return encoding;
}

/** The archive that Archive sends of a link alone: the sound of a list. */
export const SOUND_OF_LIST: ArchiveParameters = {
  quality: 'audio',
  codec: 'compatible',
  hasTags: false,
  from: 1,
};

/** The query of Archive that `parseArchiveParameters` reads as these parameters. */
export function archiveQuery({ from, jobId, ...encoding }: ArchiveParameters): URLSearchParams {
  const { quality, ...query } = encodingQuery(encoding);
  return toQuery({
    quality: quality === 'best' ? undefined : quality,
    ...query,
    format: ARCHIVE_FORMAT,
    from: from === 1 ? undefined : from,
    jobId,
  });
}

/** The parameters of Get and Archive for the encoding of an entry; absent ones have their default. */
export const encodingQuery = (encoding: EntryEncoding) => ({ ...selectionQuery(encoding), ...soundQuery(encoding) });

/** Formats of a feed; the first one is the default. */
export const FEED_FORMATS = ['rss', 'm3u8', 'metalink', 'chapters', 'transcript'] as const;

export interface FeedParameters extends EntryEncoding {
  readonly format: (typeof FEED_FORMATS)[number];
  readonly entries?: EntrySelection;
}

/**
 * Parses the parameters of Feed besides `url`. The first of repeated parameters counts; a blank one counts as missing.
 * Episodes of a podcast are MP3 by default, entries of a playlist the best that plays everywhere.
 * @param rawQuery the query string without its `?`, undecoded
 * @throws Problem 400 for an unknown format, quality, codec or bit rate, or invalid `entries`
 */
export function parseFeedParameters(rawQuery: string): FeedParameters {
  const words = wordsOf(decodeQuery(rawQuery, GET_PARAMETERS));
  const text = words.format ?? FEED_FORMATS[0];
  const format = FEED_FORMATS.find((known) => known === text);
  if (!format) throw problems.badRequest(`format must be ${FEED_FORMATS.join(', ')}, or absent`);
  const encoding = parseEncoding(words, format === 'rss' ? 'mp3' : 'best');
  return { format, ...encoding, entries: parseEntries(words.entries) };
}
