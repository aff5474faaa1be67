import type { PlaylistEntry } from '../../state/index.ts';
import { type Info, infoList, readMetadata, webUrl } from '../yt-dlp/index.ts';
import { type Identity, identify } from './assemble.ts';
import { normalizeLink } from './normalize-link.ts';

/** One entry of a list: resolved already with the page that names it, or to be resolved by its own URL. */
export interface ListedEntry {
  readonly info: Info;
  readonly isResolved: boolean;
  /** Which item of the page it is. */
  readonly identity: Identity;
  readonly entry: PlaylistEntry;
}

/** A list of items, or the parts of one show (`multi_video`). */
export const isList = (info: Info): boolean => info._type === 'playlist' || info._type === 'multi_video';

/** Whether it is a page of search results rather than of media. */
export const isSearch = (info: Info): boolean =>
  typeof info.extractor_key === 'string' && /search(?:url|date)?$/i.test(info.extractor_key);

/**
 * The entries of a list, in its order. Those that no http or https URL leads to are left out.
 * @param listUrl what an entry resolved with the page is resolved from again
 */
export function readEntries(list: Info, listUrl: string): ListedEntry[] {
  const times = new Map<string, number>();
  return infoList(list.entries).flatMap((info) => {
    const isResolved = info._type !== 'url' && info._type !== 'url_transparent' && !isList(info);
    const url = webUrl(info.url) ?? webUrl(info.webpage_url);
    const own = isResolved ? (webUrl(info.webpage_url) ?? listUrl) : url;
    const identity = numbered(identify(info), times);
    if (!own) return [];
    const entry = {
      url: normalizeLink(own),
      ...readMetadata(info),
      ...(isNamedByList(info) && { isNamedByList: true as const }),
    };
    return [{ info, isResolved, identity, entry }];
  });
}

/** Whether what the list says of an entry wins over what the entry's own page says. */
export const isNamedByList = (info: Info): boolean => info._type === 'url_transparent';

/** Some lists give all their items one id: the second of that name is the second of that name every time. */
function numbered({ extractor, entryId }: Identity, times: Map<string, number>): Identity {
  const name = JSON.stringify([extractor, entryId]);
  const time = (times.get(name) ?? 0) + 1;
  times.set(name, time);
  return { extractor, entryId: time === 1 ? entryId : `${entryId} (${time})` };
}

/** A stored entry as one to be resolved by its URL, as its list gave it. */
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
