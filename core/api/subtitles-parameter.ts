import { problems } from './problem.ts';

/** BCP 47, and what yt-dlp calls languages: `pt-BR`, `en-orig`. */
const LANGUAGE = /^[\w-]{1,35}$/;

/**
 * Parses the `subtitles` parameter of Media and Combined; undefined without it.
 * @throws Problem 400 unless it may be a language, once
 */
export function parseSubtitlesParameter(value: string | string[] | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest('subtitles is given more than once');
  if (!LANGUAGE.test(value)) throw problems.badRequest('subtitles has to be a language, such as en');
  return value;
}
