import { problems } from './problem.ts';

/** A tag of BCP 47, or a language code of yt-dlp: `pt-BR`, `en-orig`. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * Parses the `subtitles` parameter of Media and Combined; undefined without it.
 * @throws Problem 400 unless it occurs once and has the form of a language
 */
export function parseSubtitlesParameter(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest('subtitles is given more than once');
  if (!LANGUAGE.test(value)) throw problems.badRequest('subtitles has to be a language, such as en');
  return value;
}
