import type { PlaylistEntry } from '../../state/index.ts';
import {
  type Identity,
  type Info,
  identify,
  infoList,
  isResolvedEntry,
  normalizeLink,
  readMetadata,
  webUrl,
} from '../yt-dlp/index.ts';

/** One entry of a list. */
export interface ListedEntry {
  readonly info: Info;
  /** It was extracted together with its list; otherwise it has to be resolved by its own URL. */
  readonly isResolved: boolean;
  /** Identifies it among the items of the page. */
  readonly identity: Identity;
  readonly entry: PlaylistEntry;
}

/** Whether it is a page of search results, by the name of its extractor. */
export const isSearch = (info: Info): boolean =>
  typeof info.extractor_key === 'string' && /search(?:url|date)?$/i.test(info.extractor_key);

/**
 * The entries of a list in order, without those that have no http or https URL.
 * @param listUrl the URL of entries that were extracted together with their list
 */
export function readEntries(list: Info, listUrl: string): ListedEntry[] {
  const occurrences = new Map<string, number>();
  return infoList(list.entries).flatMap((listed, index) => {
    const isResolved = isResolvedEntry(listed);
    // An item that belongs to the page of its list names it; others are found in several lists.
    const info = isResolved ? { playlist_title: list.title, playlist_index: index + 1, ...listed } : listed;
    const url = webUrl(info.url) ?? webUrl(info.webpage_url);
    const own = isResolved ? (webUrl(info.webpage_url) ?? listUrl) : url;
    const identity = withOccurrence(identify(info), occurrences);
    if (!own) return [];
    const entry = {
      url: normalizeLink(own),
      ...readMetadata(info),
      ...(isNamedByList(info) && { isNamedByList: true as const }),
    };
    return [{ info, isResolved, identity, entry }];
  });
}

/** Whether the list's metadata of an entry replaces that of the entry's own page (yt-dlp's `url_transparent`). */
export const isNamedByList = (info: Info): boolean => info._type === 'url_transparent';

/** Numbers repeated ids: some lists have one id for all items, in a stable order. */
function withOccurrence({ extractor, entryId }: Identity, occurrences: Map<string, number>): Identity {
  const id = JSON.stringify([extractor, entryId]);
  const count = (occurrences.get(id) ?? 0) + 1;
  occurrences.set(id, count);
  return { extractor, entryId: count === 1 ? entryId : `${entryId} (${count})` };
}

/** A stored entry in the form in which its list named it, to be resolved by its URL. */
export function toUnresolved(entry: PlaylistEntry): ListedEntry {
  const { url, title, author, coverUrl } = entry;
  const info = {
    _type: entry.isNamedByList ? 'url_transparent' : 'url',
    url,
    ...(title && { title }),
    ...(author && { uploader: author }),
    ...(coverUrl && { thumbnail: coverUrl }),
  };
  return { info, isResolved: false, identity: identify(info), entry };
}
