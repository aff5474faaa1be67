import { type ConversionName, conversionNames, findConversionName } from '../conversions/index.ts';
import { ARCHIVE_FORMATS, type ArchiveFormat, findArchiveFormat } from './archive-format.ts';
import { problems } from './problem.ts';
import { parseBitrate, parseClipParameters, parseSubtitlesParameter, parseTags } from './stream-parameters.ts';

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
  const quality = parseQuality(read('quality') ?? 'best');
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

function parseQuality(text: string): QualityParameters['quality'] {
  const name = QUALITY_NAMES.find((one) => one === text);
  const maxHeight = Number(HEIGHT.exec(text)?.[1]);
  if (name) return name;
  if (maxHeight > 0) return { maxHeight };
  throw problems.badRequest(`quality has to be ${QUALITY_NAMES.join(', ')}, or a height such as 1080p`);
}

function parseCodec(text: string | undefined): QualityParameters['codec'] {
  if (text === undefined) return 'compatible';
  if (text === 'any') return 'any';
  throw problems.badRequest('codec has to be any, or absent');
}

function parseFormat(text: string | undefined): ConversionName | undefined {
  const format = findConversionName(text);
  if (text !== undefined && !format)
    throw problems.badRequest(`format has to be ${[...conversionNames, ...ARCHIVE_FORMATS].join(', ')}, or absent`);
  return format;
}
