import { createHash } from 'node:crypto';
import { cutText, safeFileName } from '../files/index.ts';

/** Bytes of a name: the files of an item repeat that of its folder, and paths stay below the 260 characters of Windows. */
const MAX_NAME_BYTES = 72;
/** Characters of the digest of a link. */
const DIGEST_CHARACTERS = 10;
/** What file systems reserve, `%`, which Kodi decodes, and characters that a reader does not see. */
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*%]+/gu;
/** Words by which Jellyfin and Kodi leave a file out (`sample`), or take its picture for two beside or above each other. */
const SIGNS = /(?<![\p{L}\p{N}])(?:sample|[fh]?sbs(?:3d)?|[fh]?tab|mvc)(?![\p{L}\p{N}])/giu;

/** A title as the list or the item has it. */
export interface Naming {
  readonly title: string | null;
  readonly author: string | null;
}

/** `Artist - Title`; a title that names the artist is enough. */
export const titleOf = ({ title, author }: Naming): string | null =>
  title && author && !title.includes(author) ? `${author} - ${title}` : title;

/**
 * `Artist - Title [digest]`: the name of the folder of an item and of its files. The digest of the link keeps items of the same
 * title apart, and no name ends as those of trailers and samples do, which Jellyfin takes for extras.
 */
export function libraryName(naming: Naming, link: string): string {
  const digest = createHash('sha256').update(link).digest('hex').slice(0, DIGEST_CHARACTERS);
  const suffix = ` [${digest}]`;
  const clean = (titleOf(naming) ?? '')
    .normalize('NFC')
    .replace(SIGNS, (word) => `${word.slice(0, 2)}-${word.slice(2)}`)
    .replace(/-(?=trailer)/gi, '- ')
    .replace(/\[(playlist|boxset)\]/gi, '($1)')
    .replace(FORBIDDEN, ' ');
  const cut = cutText(withoutEdges(clean), MAX_NAME_BYTES - suffix.length);
  // As the state of the folder reads it: `CON.` begins the name of a device.
  return safeFileName((withoutEdges(cut) || 'media') + suffix);
}

const withoutEdges = (text: string): string => text.replace(/^[. ]+|[. ]+$/g, '');

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
