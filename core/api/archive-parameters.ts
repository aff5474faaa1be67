import { ARCHIVE_FORMATS, type ArchiveFormat, findArchiveFormat } from './archive-format.ts';
import { problems } from './problem.ts';
import { parseQualityParameters, type QualityParameters } from './quality-parameters.ts';

/** What Archive streams of a list. */
export interface ArchiveParameters extends Pick<QualityParameters, 'quality' | 'codec'> {
  readonly format: ArchiveFormat;
  /** Number of the first entry, from 1. */
  readonly from: number;
}

/** Digits of `from`: no list is longer. */
const NUMBER = /^[1-9]\d{0,5}$/;

/**
 * Parses the query of Archive. Of a repeated parameter the first counts.
 * @throws Problem 400 for an unknown format, quality or codec, or a `from` that is no number of an entry
 */
export function parseArchiveParameters(
  query: Readonly<Record<string, string | string[] | undefined>>,
): ArchiveParameters {
  const read = (name: string) => [query[name]].flat()[0]?.trim().toLowerCase() || undefined;
  // Blank parameters count as missing.
  const selection = new URLSearchParams({ quality: read('quality') ?? '', codec: read('codec') ?? '' });
  const { quality, codec } = parseQualityParameters(selection.toString());
  return { quality, codec, format: parseFormat(read('format')), from: parseFrom(read('from')) };
}

function parseFormat(text: string = ARCHIVE_FORMATS[0]): ArchiveFormat {
  const format = findArchiveFormat(text);
  if (!format) throw problems.badRequest(`format has to be ${ARCHIVE_FORMATS.join(' or ')}, or absent`);
  return format;
}

function parseFrom(text = '1'): number {
  if (!NUMBER.test(text)) throw problems.badRequest('from has to be the number of an entry, such as 12');
  return Number(text);
}
