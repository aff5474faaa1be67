import { fileName, type Naming } from '../../../core/http/index.ts';
import type { Resource } from '../../../core/state/index.ts';

/**
 * Bytes of the folder of a list, and of an item, whose files repeat its name: with the longest ending, paths stay below the 260
 * characters of Windows, with room for the folders above.
 */
const MAX_FOLDER_BYTES = 60;
const MAX_ITEM_BYTES = 72;
/** Ids of sites that stay short and need no escaping, as those of YouTube. */
const PLAIN_ID = /^[\w-]{1,24}$/;
/** Characters of the digest that replaces other ids. */
const DIGEST_CHARACTERS = 10;

/** The folder of a library. Jellyfin takes folders called Trailers, Shorts, Clips and so on for extras of the folder above. */
export const libraryFolder = (list: Naming): string => fileName(withoutSigns(list), ' (library)', MAX_FOLDER_BYTES);

/**
 * `Artist - Title [id]`: the name of the folder of an item and of its files. The id keeps it the same when the list changes, and
 * apart from items of the same title; and no name ends as those of trailers and samples do, which Jellyfin takes for extras.
 * @param copy from 1: how often the list has had the item up to there
 */
export function libraryName(
  { id, title, author, origin }: Pick<Resource, 'id' | 'title' | 'author' | 'origin'>,
  copy: number,
): string {
  // Ids of pages without an extractor of their own are names of files, which differ in their folders alone.
  const isOwnId = origin.extractor.toLowerCase() !== 'generic' && PLAIN_ID.test(origin.entryId);
  const label = isOwnId ? origin.entryId : id.slice(0, DIGEST_CHARACTERS);
  const suffix = ` [${label}]${copy > 1 ? ` (${copy})` : ''}`;
  return fileName(withoutSigns({ title, author }), suffix, MAX_ITEM_BYTES);
}

/** Words by which Jellyfin and Kodi leave a file out (`sample`), or take its picture for two beside or above each other. */
const SIGNS = /(?<![\p{L}\p{N}])(?:sample|[fh]?sbs(?:3d)?|[fh]?tab|mvc)(?![\p{L}\p{N}])/giu;

/** Titles without what is a sign to Jellyfin or Kodi: such words, `-trailer`, and the brackets of kinds of folders. */
function withoutSigns({ title, author }: Naming): Naming {
  const clean = (text: string | null) =>
    text
      ?.replace(SIGNS, (word) => `${word.slice(0, 2)}-${word.slice(2)}`)
      .replace(/-(?=trailer)/gi, '- ')
      .replace(/\[(playlist|boxset)\]/gi, '($1)') ?? null;
  return { title: clean(title), author: clean(author) };
}

/** The languages with a region or script that Jellyfin knows. */
const KNOWN_VARIANTS = /^(?:es-419|fr-ca|pt-(?:br|pt)|zh-(?:cn|tw|hk|hans|hant))$/i;
/** Codes that sites still use, and what ISO 639 calls them now. */
const RENAMED: Readonly<Record<string, string>> = { iw: 'he', in: 'id', jw: 'jv' };

/** A language in the name of a file of subtitles. One that Jellyfin knows follows where it would find none: `en-US.en`. */
export function languageLabel(language: string): string {
  const [, primary] = /^([a-z]{2,3})(?:[-_]|$)/.exec(language.toLowerCase()) ?? [];
  if (primary === undefined || KNOWN_VARIANTS.test(language)) return language;
  const known = RENAMED[primary] ?? primary;
  return known === language.toLowerCase() ? language : `${language}.${known}`;
}
