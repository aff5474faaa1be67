import type { Mp3BitrateKbps } from '../conversions/index.ts';
import { problems } from './problem.ts';
import {
  ARCHIVE_FORMATS,
  type ArchiveFormat,
  findArchiveFormat,
  parseCodec,
  parseQuality,
  type QualityParameters,
} from './resolve-parameters.ts';
import { parseBitrate, parseTags } from './stream-parameters.ts';

/** What Archive streams of a list. */
export interface ArchiveParameters extends Pick<QualityParameters, 'quality' | 'codec'> {
  readonly format: ArchiveFormat;
  /** Of MP3; absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
  /** With full tags, where the output has room for them. */
  readonly hasTags: boolean;
  /** Number of the first entry, from 1. */
  readonly from: number;
}

/** At most six digits: no list is longer. */
const NUMBER = /^[1-9]\d{0,5}$/;

/**
 * Parses the query of Archive. Of a repeated parameter the first counts.
 * @throws Problem 400 for an unknown format, quality, codec or bit rate, or a `from` that is not the number of an entry
 */
export function parseArchiveParameters(
  query: Readonly<Record<string, string | string[] | undefined>>,
): ArchiveParameters {
  const read = (name: string) => [query[name]].flat()[0]?.trim().toLowerCase() || undefined;
  const quality = parseQuality(read('quality'));
  const codec = parseCodec(read('codec'));
  const bitrateKbps = parseBitrate(read('bitrate'));
  if (bitrateKbps && quality !== 'mp3') throw problems.badRequest('bitrate needs quality=mp3');
  return {
    quality,
    codec,
    bitrateKbps,
    hasTags: parseTags(read('tags')),
    format: parseFormat(read('format')),
    from: parseFrom(read('from')),
  };
}

function parseFormat(text: string = ARCHIVE_FORMATS[0]): ArchiveFormat {
  const format = findArchiveFormat(text);
  if (!format) throw problems.badRequest(`format must be ${ARCHIVE_FORMATS.join(' or ')}, or absent`);
  return format;
}

function parseFrom(text = '1'): number {
  if (!NUMBER.test(text)) throw problems.badRequest('from must be the number of an entry, such as 12');
  return Number(text);
}
