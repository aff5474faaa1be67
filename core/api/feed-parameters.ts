import { problems } from './problem.ts';
import { parseQualityParameters, type QualityParameters } from './quality-parameters.ts';

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
  if (!format) throw problems.badRequest(`format has to be ${FEED_FORMATS.join(', ')}, or absent`);
  const selection = new URLSearchParams({
    quality: read('quality') ?? (format === 'rss' ? 'mp3' : ''),
    codec: read('codec') ?? '',
  });
  const { quality, codec } = parseQualityParameters(selection.toString());
  return { format, quality, codec };
}
