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
export const libraryFolder = (list: Naming): string =>
  withoutExclusions(fileName(list, ' (library)', MAX_FOLDER_BYTES));

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
  return withoutExclusions(fileName({ title, author }, suffix, MAX_ITEM_BYTES));
}

/** Kodi scans no path with `-trailer`, or with `sample` as a word (`excludefromscan` of its advanced settings). */
const withoutExclusions = (name: string): string =>
  name.replace(/-(?=trailer)/gi, '- ').replace(/(?<=^|[!-._ ])sample(?=[-._ ])/gi, '($&)');
