import { NotDeliverable, NotFound } from '../../core/errors/index.ts';
import { normalizeLink, type Resolved } from '../../core/resolve/index.ts';
import { type ArchivedList, archiveKey, ItemTooLarge, type PlaylistEntry, type State } from '../../core/state/index.ts';

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
  const url = normalizeLink(link.trim());
  const { title, author } = resolved.type === 'Media' ? resolved.resource : resolved;
  const { isCut, unavailable } = resolved.type === 'PlayList' ? resolved : {};
  const entries = entriesOf(resolved, url);
  if (entries.length === 0) throw new NotFound('The list has no entries');
  const id = archiveKey(url, options);
  const expiresAt = Math.floor(Date.now() / 1000) + RETENTION_SECONDS;
  const list = { id, url, title, author, entries, isCut, unavailable, ...options, expiresAt };
  await state.putArchivedList(list).catch((cause) => {
    if (cause instanceof ItemTooLarge)
      throw new NotDeliverable('The list is too long for an archive.', { cause, reason: 'too-large' });
    throw cause;
  });
  return id;
}

/** The entries of a list; a single item is a list of one. */
function entriesOf(resolved: Resolved, url: string): PlaylistEntry[] {
  if (resolved.type === 'PlayList') return resolved.items.map(({ entry }) => entry);
  const { id, title, author, coverUrl } = resolved.resource;
  return [{ url, title, author, coverUrl, resourceId: id }];
}
