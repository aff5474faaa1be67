import { NotFound } from '../errors/index.ts';
import { type ArchivedList, archiveKey, type PlaylistEntry } from '../state/index.ts';
import type { Resolved } from './link/index.ts';
import { normalizeLink } from './yt-dlp/index.ts';

/** Seconds that an archive which nothing uses is kept: as long as the resources of its entries. */
const RETENTION_SECONDS = 24 * 3600;

/**
 * The entries of a resolved link as a list that is sent entry by entry; a single item is a list of one.
 * @param link as the client sent it
 * @param options `selected` of the entries, all by default
 * @throws NotFound for a list without entries
 */
export function toArchivedList(
  resolved: Resolved,
  link: string,
  options: Pick<ArchivedList, 'selected' | 'baseUrl'> = {},
): ArchivedList {
  const url = normalizeLink(link.trim());
  const { title, author } = resolved.type === 'Media' ? resolved.resource : resolved;
  const { isCut, unavailable } = resolved.type === 'PlayList' ? resolved : {};
  const entries = entriesOf(resolved, url);
  if (entries.length === 0) throw new NotFound('The list has no entries');
  const expiresAt = Math.floor(Date.now() / 1000) + RETENTION_SECONDS;
  const id = archiveKey(url, options);
  return { id, url, title, author, entries, isCut, unavailable, ...options, expiresAt };
}

function entriesOf(resolved: Resolved, url: string): PlaylistEntry[] {
  if (resolved.type === 'PlayList') return resolved.items.map(({ entry }) => entry);
  const { id, title, author, coverUrl } = resolved.resource;
  return [{ url, title, author, coverUrl, resourceId: id }];
}
