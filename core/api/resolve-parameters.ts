import { type ConversionName, conversionNames, findConversionName } from '../conversions/index.ts';
import { problems } from './problem.ts';
import { parseBitrate, parseClipParameters, parseSubtitlesParameter, parseTags } from './stream-parameters.ts';

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

/** Formats of an archive; the first one is the default. */
export const ARCHIVE_FORMATS = ['zip', 'tar'] as const;
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number];

/** The format by its name in lower case. */
export const findArchiveFormat = (text: string | undefined): ArchiveFormat | undefined =>
  ARCHIVE_FORMATS.find((format) => format === text);

/** What Get selects and how it is streamed. */
export interface QualityParameters {
  readonly quality: 'best' | 'worst' | 'audio' | 'mp3' | { readonly maxHeight: number };
  /** `compatible`: what any device plays is preferred. */
  readonly codec: 'compatible' | 'any';
  readonly format?: ConversionName;
  /** The entries of a list as one file, instead of `format`. */
  readonly archive?: ArchiveFormat;
  /** Further parameters of the stream, validated: `bitrate`, `tags`, `subtitles`, `start` and `end`. */
  readonly options: Readonly<Record<string, string>>;
}

const QUALITY_NAMES = ['best', 'worst', 'audio', 'mp3'] as const;
const HEIGHT = /^([1-9]\d{1,4})p$/;

/**
 * Parses the parameters of Get besides `url`. The first of repeated parameters counts; a blank one counts as missing.
 * @param rawQuery the query string without its `?`, undecoded
 * @throws Problem 400 for an unknown quality, codec, format or bit rate, or an invalid clip
 */
export function parseQualityParameters(rawQuery: string): QualityParameters {
  const query = new URLSearchParams(rawQuery);
  const read = (name: string) => query.get(name)?.trim().toLowerCase() || undefined;
  const { start, end } = { start: query.getAll('start'), end: query.getAll('end') };
  const clip = parseClipParameters({ start: oneOrAll(start), end: oneOrAll(end) });
  const archive = findArchiveFormat(read('format'));
  if (archive && clip) throw problems.badRequest('start and end apply to a single item');
  const quality = parseQuality(read('quality'));
  const bitrateKbps = parseBitrate(read('bitrate'));
  const named = archive ? undefined : parseFormat(read('format'));
  const format = named ?? (bitrateKbps && quality === 'mp3' ? 'mp3' : undefined);
  if (bitrateKbps && format !== 'mp3') throw problems.badRequest('bitrate needs quality=mp3 or format=mp3');
  const subtitles = parseSubtitlesParameter(query.get('subtitles')?.trim() || undefined);
  return {
    quality,
    codec: parseCodec(read('codec')),
    format,
    archive,
    options: {
      ...(bitrateKbps && { bitrate: String(bitrateKbps) }),
      ...(parseTags(read('tags')) && { tags: 'true' }),
      ...(subtitles !== undefined && { subtitles }),
      ...(start[0] !== undefined && { start: start[0] }),
      ...(end[0] !== undefined && { end: end[0] }),
    },
  };
}

const oneOrAll = (values: string[]) => (values.length > 1 ? values : values[0]);

/** @throws Problem 400 for an unknown quality */
export function parseQuality(text = 'best'): QualityParameters['quality'] {
  const name = QUALITY_NAMES.find((one) => one === text);
  const maxHeight = Number(HEIGHT.exec(text)?.[1]);
  if (name) return name;
  if (maxHeight > 0) return { maxHeight };
  throw problems.badRequest(`quality must be ${QUALITY_NAMES.join(', ')}, or a height such as 1080p`);
}

/** @throws Problem 400 for an unknown codec */
export function parseCodec(text: string | undefined): QualityParameters['codec'] {
  if (text === undefined) return 'compatible';
  if (text === 'any') return 'any';
  throw problems.badRequest('codec must be any, or absent');
}

function parseFormat(text: string | undefined): ConversionName | undefined {
  const format = findConversionName(text);
  if (text !== undefined && !format)
    throw problems.badRequest(`format must be ${[...conversionNames, ...ARCHIVE_FORMATS].join(', ')}, or absent`);
  return format;
}

/** Formats of a feed; the first one is the default. */
export const FEED_FORMATS = ['rss', 'm3u8', 'chapters'] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

export interface FeedParameters extends Pick<QualityParameters, 'quality' | 'codec'> {
  readonly format: FeedFormat;
}

/**
 * Parses the parameters of Feed besides `url`. The first of repeated parameters counts; a blank one counts as missing.
 * Episodes of a podcast are MP3 by default, entries of a playlist the best that plays everywhere.
 * @param rawQuery the query string without its `?`, undecoded
 * @throws Problem 400 for an unknown format, quality or codec
 */
export function parseFeedParameters(rawQuery: string): FeedParameters {
  const query = new URLSearchParams(rawQuery);
  const read = (name: string) => query.get(name)?.trim().toLowerCase() || undefined;
  const text = read('format') ?? FEED_FORMATS[0];
  const format = FEED_FORMATS.find((known) => known === text);
  if (!format) throw problems.badRequest(`format must be ${FEED_FORMATS.join(', ')}, or absent`);
  const quality = parseQuality(read('quality') ?? (format === 'rss' ? 'mp3' : undefined));
  return { format, quality, codec: parseCodec(read('codec')) };
}
