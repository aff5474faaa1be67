import { positiveInteger } from '@reelay/seekable-media/values';
import type { PlaylistEntry, PlaylistLink, Resource } from '../../state/index.ts';
import { type Info, readMetadata } from '../yt-dlp/index.ts';
import { type ListedEntry, readEntries } from './list-entries.ts';

/** A list with those of its entries that are not gone. */
export interface ResolvedPlaylist extends ListHead {
  readonly type: 'PlayList';
  /** Entries that missed the deadline have no `resource`. */
  readonly items: readonly ListItem[];
  /** One-based places of entries that are gone, private or protected, ascending; `items` omits them. */
  readonly unavailable?: readonly number[];
}

export interface ListItem {
  readonly entry: PlaylistEntry;
  readonly resource?: Resource;
}

/** `totalEntries` as the source states it; `isCut` at the limit of entries. */
type ListHead = Pick<PlaylistLink, 'title' | 'author' | 'coverUrl' | 'totalEntries' | 'isCut'>;

/** What is known at one place of a list; undefined for an entry that is gone, private or protected. */
export type Place = ListItem | undefined;

/** A list whose entries are not all resolved. */
export interface List {
  readonly head: ListHead;
  readonly places: readonly (ListedEntry | Place)[];
}

export const isUnresolved = (place: ListedEntry | Place): place is ListedEntry =>
  place !== undefined && 'isResolved' in place;

/**
 * Reads a list that yt-dlp returned.
 * @param url the link of the list
 * @param maxEntries further ones are cut
 */
export function readList(info: Info, url: string, maxEntries: number): List {
  const entries = readEntries(info, url);
  const totalEntries = positiveInteger(info.playlist_count);
  const isCut = entries.length >= maxEntries && totalEntries !== maxEntries;
  const head = { ...readMetadata(info), isCut, ...(totalEntries !== undefined && { totalEntries }) };
  return { head, places: entries.slice(0, maxEntries) };
}

/** Puts the gaps of a stored list back between its entries. */
export function withGaps<T>(entries: readonly T[], unavailable: readonly number[] = []): (T | undefined)[] {
  const places: (T | undefined)[] = [...entries];
  // In ascending order: each is at its place once those before it are.
  for (const number of unavailable) places.splice(number - 1, 0, undefined);
  return places;
}

/** Entries by their one-based place in the list at its source, where others are unavailable; in order. */
export const numberEntries = <T>(entries: readonly T[], unavailable?: readonly number[]): ReadonlyMap<number, T> =>
  new Map(withGaps(entries, unavailable).flatMap((entry, index) => (entry === undefined ? [] : [[index + 1, entry]])));

/** Builds the answer for a list. It has no items when no entry is available. */
export function toPlaylist(
  { title, author, coverUrl, totalEntries, isCut }: ListHead,
  places: readonly Place[],
): ResolvedPlaylist {
  return {
    type: 'PlayList',
    title,
    author,
    coverUrl,
    isCut,
    ...(totalEntries !== undefined && { totalEntries }),
    items: places.filter((place) => place !== undefined),
    unavailable: places.flatMap((place, index) => (place ? [] : [index + 1])),
  };
}

/** What is known of an entry once it is resolved. @param isOnly it has led to no other resource */
export function toItem({ entry: { url, isNamedByList } }: ListedEntry, resource: Resource, isOnly: boolean): ListItem {
  const { title, author, coverUrl, origin } = resource;
  const entry = { url: isOnly ? url : origin.url, title, author, coverUrl, resourceId: resource.id };
  return { entry: { ...entry, ...(isNamedByList && { isNamedByList }) }, resource };
}
