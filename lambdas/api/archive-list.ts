import { NotDeliverable } from '../../core/errors/index.ts';
import { timeChapters } from '../../core/media/chapters/index.ts';
import { normalizeLink, type Resolved, toArchivedList } from '../../core/resolve/index.ts';
import {
  type ArchivedList,
  archiveKey,
  ItemTooLarge,
  type PlaylistEntry,
  type Resource,
  type State,
} from '../../core/state/index.ts';

/** Seconds that an archive which nothing uses is kept: as long as the resources of its entries. */
const RETENTION_SECONDS = 24 * 3600;

/**
 * Stores the entries of a resolved link, so that the stream service finds them by the key of the archive.
 * @param link as the client sent it
 * @param options which entries, all by default; the address of the instance for an archive of links
 * @returns the key
 * @throws NotFound for a list without entries, NotDeliverable for one too long to store, StorageFull
 */
export async function storeArchive(
  state: Pick<State, 'putArchivedList'>,
  resolved: Resolved,
  link: string,
  options: Pick<ArchivedList, 'selected' | 'baseUrl'> = {},
): Promise<string> {
  return storeList(state, toArchivedList(resolved, link, options));
}

/**
 * Stores the chapters of an item as such a list, of which the item is the title.
 * @returns the key
 * @throws NotDeliverable for an item without chapters, StorageFull
 */
export async function storeChapters(
  state: Pick<State, 'putArchivedList'>,
  { id: resourceId, title, author, coverUrl, details, durationSeconds }: Resource,
  link: string,
  selected: ArchivedList['selected'],
): Promise<string> {
  const url = normalizeLink(link.trim());
  const chapters = timeChapters(details?.chapters ?? [], durationSeconds);
  if (chapters.length === 0) throw new NotDeliverable('The item has no chapters.');
  const entries = chapters.map((chapter, index): PlaylistEntry => {
    return { url, title: chapter.title, author, coverUrl, resourceId, chapter: index + 1 };
  });
  return storeList(state, { id: archiveKey(url, { selected }, true), url, title, author, entries, selected });
}

async function storeList(
  state: Pick<State, 'putArchivedList'>,
  unstored: Omit<ArchivedList, 'expiresAt'>,
): Promise<string> {
  const expiresAt = Math.floor(Date.now() / 1000) + RETENTION_SECONDS;
  await state.putArchivedList({ ...unstored, expiresAt }).catch((cause) => {
    if (cause instanceof ItemTooLarge)
      throw new NotDeliverable('The list is too long for an archive.', { cause, reason: 'too-large' });
    throw cause;
  });
  return unstored.id;
}
