import { timeChapters } from '@reelay/seekable-media/parts/chapters';
import { NotDeliverable, NotFound } from '../errors/index.ts';
import { type ArchivedList, archiveKey, type PlaylistEntry, type Resource } from '../state/index.ts';
import type { Resolved } from './resolve-link.ts';
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
  options: Pick<ArchivedList, 'selected'> = {},
): ArchivedList {
  const url = normalizeLink(link.trim());
  const { title, author } = resolved.type === 'Media' ? resolved.resource : resolved;
  const { offset, nextOffset, unavailable } = resolved.type === 'PlayList' ? resolved : {};
  const entries = entriesOf(resolved, url);
  if (entries.length === 0) throw new NotFound('The list has no entries');
  const id = archiveKey(url, { ...options, offset });
  return { id, url, title, author, entries, offset, nextOffset, unavailable, ...options, expiresAt: expiresAt() };
}

/** The chapters of an item as such a list, of which the item is the title. @throws NotDeliverable for an item without chapters */
export function toChapterList(
  { id: resourceId, title, author, coverUrl, details, durationSeconds }: Resource,
  link: string,
  selected: ArchivedList['selected'],
): ArchivedList {
  const url = normalizeLink(link.trim());
  const chapters = timeChapters(details?.chapters ?? [], durationSeconds);
  if (chapters.length === 0) throw new NotDeliverable('The item has no chapters.');
  const entries = chapters.map((chapter, index): PlaylistEntry => {
    return { url, title: chapter.title, author, coverUrl, resourceId, chapter: index + 1 };
  });
  return { id: archiveKey(url, { selected }, true), url, title, author, entries, selected, expiresAt: expiresAt() };
}

/** Epoch seconds. */
const expiresAt = (): number => Math.floor(Date.now() / 1000) + RETENTION_SECONDS;

function entriesOf(resolved: Resolved, url: string): PlaylistEntry[] {
  if (resolved.type === 'PlayList') return resolved.items.map(({ entry }) => entry);
  const { id, title, author, coverUrl } = resolved.resource;
  return [{ url, title, author, coverUrl, resourceId: id }];
}
