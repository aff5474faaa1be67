import { type Deadline, deadlineSignal } from '@reelay/concurrency';
import { positiveInteger, withoutAbsent } from '@reelay/seekable-media/values';
import { type EntrySelection, isSelected } from '../api/index.ts';
import type { PlaylistEntry, PlaylistLink, Resource, UnavailableEntry } from '../state/index.ts';
import {
  type Identity,
  type Info,
  identify,
  infoList,
  isResolvedEntry,
  normalizeLink,
  readMetadata,
  webUrl,
} from './yt-dlp/index.ts';

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
 * @param offset entries of the list before them
 */
export function readEntries(list: Info, listUrl: string, offset = 0): ListedEntry[] {
  const occurrences = new Map<string, number>();
  return infoList(list.entries).flatMap((listed, index) => {
    const isResolved = isResolvedEntry(listed);
    // An item that belongs to the page of its list names it; others are found in several lists.
    const info = isResolved ? { playlist_title: list.title, playlist_index: offset + index + 1, ...listed } : listed;
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

/** A list with those of its entries that are not gone. */
export interface ResolvedPlaylist extends ListHead {
  readonly type: 'PlayList';
  /** Entries that missed the deadline have no `resource`. */
  readonly items: readonly ListItem[];
  /** One-based places in the list of entries that are gone, private or protected, ascending; `items` omits them. */
  readonly unavailable?: readonly number[];
  readonly unavailableEntries?: readonly UnavailableEntry[];
}

export interface ListItem {
  readonly entry: PlaylistEntry;
  readonly resource?: Resource;
}

/** `totalEntries` as the source states it. */
type ListHead = Pick<PlaylistLink, 'title' | 'author' | 'coverUrl' | 'totalEntries' | 'offset' | 'nextOffset'>;

/** What is known of an entry that is gone, private or protected; undefined: nothing. */
type Gap = Omit<UnavailableEntry, 'number'> | undefined;

/** What is known at one position of a playlist. */
export type PlaylistPosition = ListItem | Gap;

const isItem = (position: PlaylistPosition): position is ListItem => position !== undefined && 'entry' in position;

/** A list whose entries are not all resolved. */
export interface List {
  readonly head: ListHead;
  readonly positions: readonly (ListedEntry | PlaylistPosition)[];
}

export const isUnresolved = (position: ListedEntry | PlaylistPosition): position is ListedEntry =>
  position !== undefined && 'isResolved' in position;

/**
 * Reads a page of a list that yt-dlp returned.
 * @param url the link of the list
 * @param page `maxEntries` of it; further ones belong to the next page
 */
export function readList(
  info: Info,
  url: string,
  { offset, maxEntries }: { readonly offset: number; readonly maxEntries: number },
): List {
  const entries = readEntries(info, url, offset);
  const totalEntries = positiveInteger(info.playlist_count);
  const nextOffset = offset + maxEntries;
  const isCut = infoList(info.entries).length >= maxEntries && totalEntries !== nextOffset;
  const head = { ...readMetadata(info), totalEntries, offset, ...(isCut && { nextOffset }) };
  return { head, positions: entries.slice(0, maxEntries) };
}

type Gaps = Pick<PlaylistLink, 'offset' | 'unavailable' | 'unavailableEntries'>;

/** Puts the gaps of a stored list back between its entries. */
export function withGaps<T>(
  entries: readonly T[],
  { offset = 0, unavailable = [], unavailableEntries = [] }: Gaps,
): (T | Gap)[] {
  const positions: (T | Gap)[] = [...entries];
  // In ascending order: each is at its position once those before it are.
  for (const number of unavailable) {
    const known = unavailableEntries.find((entry) => entry.number === number);
    positions.splice(number - 1 - offset, 0, known);
  }
  return positions;
}

/** Entries by their one-based place in the list at its source, where others are unavailable; in order. */
export const numberEntries = <T>(
  entries: readonly T[],
  { offset = 0, unavailable }: Omit<Gaps, 'unavailableEntries'>,
): ReadonlyMap<number, T> =>
  new Map(
    withGaps<T | undefined>(entries, { offset, unavailable }).flatMap((entry, index) =>
      entry === undefined ? [] : [[offset + index + 1, entry as T]],
    ),
  );

/** Builds the answer for a list. It has no items when no entry is available. */
export function toPlaylist(
  { title, author, coverUrl, totalEntries, offset = 0, nextOffset }: ListHead,
  positions: readonly PlaylistPosition[],
): ResolvedPlaylist {
  const gaps = positions.flatMap((position, index) =>
    isItem(position) ? [] : [{ position, number: offset + index + 1 }],
  );
  return {
    type: 'PlayList',
    title,
    author,
    coverUrl,
    ...withoutAbsent({ totalEntries, offset: offset || undefined, nextOffset }),
    items: positions.filter(isItem),
    unavailable: gaps.map(({ number }) => number),
    unavailableEntries: gaps.flatMap(({ position, number }) => (position ? [{ ...position, number }] : [])),
  };
}

/** What is known of an entry once it is resolved. @param isOnly it has led to no other resource */
export function toItem({ entry: { url, isNamedByList } }: ListedEntry, resource: Resource, isOnly: boolean): ListItem {
  const { title, author, coverUrl, origin } = resource;
  const entry = { url: isOnly ? url : origin.url, title, author, coverUrl, resourceId: resource.id };
  return { entry: { ...entry, ...(isNamedByList && { isNamedByList }) }, resource };
}

/** When a resolve must be done, and what a caller does not wait for. */
export interface ResolveDeadline extends Deadline {
  /**
   * Epoch milliseconds. Entries of a playlist that are not resolved by then stay bare; a later request continues with them.
   * @default the deadline
   */
  readonly entriesDeadline?: number;
  /** Which entries of a playlist are resolved before they are needed. Others stay bare. @default all */
  readonly ahead?: EntriesAhead | undefined;
}

/** The first `max` of the selected entries. Those whose resources are stored do not count, however old these are. */
export interface EntriesAhead {
  readonly max: number;
  /** @default all */
  readonly selected?: EntrySelection | undefined;
}

/**
 * Leaves entries bare that are not resolved ahead.
 * @param offset entries of the list before them
 */
export function withoutLater(
  positions: List['positions'],
  { max, selected }: EntriesAhead,
  offset: number,
): List['positions'] {
  let left = max;
  return positions.map((position, index) => {
    if (!isUnresolved(position) || position.isResolved) return position;
    if (!isSelected(offset + index + 1, selected) || left === 0) return { entry: position.entry };
    left -= 1;
    return position;
  });
}

/** One entry of a playlist to resolve. Serializable as JSON: it may be resolved in another process. */
export interface EntryRequest {
  readonly url: string;
  /** The list's metadata of it. */
  readonly entry: Info;
  /** Links of the lists that contain it, outermost first. */
  readonly ancestors: readonly string[];
}

/** Resolves one entry of a playlist: to one resource, or to several when the entry is a list itself. */
export type ResolveEntry = (request: EntryRequest, deadline: Deadline) => Promise<readonly Resource[]>;

/** Part of the time left that is kept to store and write the answer, and its maximum. */
const RESERVED_PART = 0.1;
const MAX_RESERVED_MS = 1000;

/** How long entries of a list may take. */
export interface EntryBounds {
  readonly full: Deadline;
  /** Ends the wait only; work shared with other callers continues. */
  readonly waiting: Deadline;
}

export function boundEntries({ deadline, entriesDeadline = deadline, signal, client }: ResolveDeadline): EntryBounds {
  const timeLeftMs = Math.max(0, deadline - Date.now());
  const until = deadline - Math.min(MAX_RESERVED_MS, timeLeftMs * RESERVED_PART);
  const full = { deadline: until, signal: deadlineSignal({ deadline: until, signal }), client };
  const waitSignal =
    entriesDeadline <= Date.now()
      ? AbortSignal.abort()
      : deadlineSignal({ deadline: entriesDeadline, signal: full.signal });
  return { full, waiting: { ...full, signal: waitSignal } };
}
