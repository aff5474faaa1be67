import pLimit from 'p-limit';
import { abortable, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import { NotFound } from '../../errors/index.ts';
import { linkId, type PlaylistLink, type Resource } from '../../state/index.ts';
import { type ListedEntry, readEntries, toUnresolved } from '../playlists/index.ts';
import type { ResolveDeadline, ResolvedPlaylist } from '../resolver.ts';
import { type Extraction, isFinal, positiveInteger, readMetadata, withoutAbsent } from '../yt-dlp/index.ts';
import { epochSeconds, RETENTION_SECONDS } from './assemble-resource.ts';
import type { CachedState } from './cached-state.ts';

export interface PlaylistsOptions {
  readonly cache: CachedState;
  /** Entries of one playlist at most. */
  readonly playlistLimit: number;
  /** Entries resolved at once. */
  readonly concurrency: number;
}

/** Where a list was found. */
export interface ListLocation {
  readonly link: string;
  /** Key of the stored link. */
  readonly cacheKey: string;
}

/** Resolves one entry: to one resource, or to several when the entry is a list itself. */
export type ResolveListed = (listed: ListedEntry, deadline: Deadline) => Promise<readonly Resource[]>;

export interface Playlists {
  /**
   * Resolves the entries of a list that yt-dlp returned, and stores the result.
   * @throws NotFound when no entry is left
   */
  resolve(
    list: Extraction,
    location: ListLocation,
    resolveListed: ResolveListed,
    deadline: ResolveDeadline,
  ): Promise<ResolvedPlaylist>;
  /**
   * Reads a stored playlist, and resolves the entries whose resources are not in the table. Undefined when that is not
   * possible entry by entry, because the items came with the page of the list: the list has to be resolved again.
   */
  complete(
    stored: PlaylistLink,
    location: ListLocation,
    resolveListed: ResolveListed,
    deadline: ResolveDeadline,
  ): Promise<ResolvedPlaylist | undefined>;
}

type Item = ResolvedPlaylist['items'][number];
/** An item at its place in the list; undefined for one that is gone, private or protected. */
type Place = Item | undefined;
type ListCounts = Pick<ResolvedPlaylist, 'totalEntries' | 'isCut' | 'unavailable'>;

const FRESH_SECONDS = 3600;
/** Of a list that is incomplete because a request took too long. */
const FRESH_SHORT_SECONDS = 30;
/** Kept of the deadline to store and write the answer; at most a tenth of the time left. */
const RESERVE_MS = 1000;
const TABLE_READ_CONCURRENCY = 16;

/** Playlists: entries are resolved concurrently, as many as the deadline allows; one that fails does not fail the list. */
export function createPlaylists({ cache, playlistLimit, concurrency }: PlaylistsOptions): Playlists {
  const resolveAll = async (
    entries: readonly (ListedEntry | Place)[],
    resolveListed: ResolveListed,
    { deadline, entriesDeadline = deadline, signal, client }: ResolveDeadline,
  ): Promise<Place[]> => {
    const until = deadline - Math.min(RESERVE_MS, Math.max(0, deadline - Date.now()) / 10);
    const full = { deadline: until, signal: deadlineSignal({ deadline: until, signal }), client };
    // Only the wait ends early: an entry that another caller has joined, or that is resolved elsewhere, continues.
    const isOver = entriesDeadline <= Date.now();
    const signalOfWait = isOver
      ? AbortSignal.abort()
      : deadlineSignal({ deadline: entriesDeadline, signal: full.signal });
    const early = { ...full, signal: signalOfWait };
    // Entries that came with the page of the list are not known without resolving the list again.
    const boundsOf = ({ isResolved }: ListedEntry) => (isResolved ? full : early);
    const limit = pLimit(concurrency);
    const items = await Promise.all(
      entries.map((entry) =>
        isUnresolved(entry) ? limit(() => settle(entry, resolveListed, boundsOf(entry))) : [entry],
      ),
    );
    signal.throwIfAborted();
    return items.flat().slice(0, playlistLimit);
  };

  const store = async (
    { link, cacheKey }: ListLocation,
    { title, author, coverUrl, totalEntries, isCut }: Omit<ResolvedPlaylist, 'type' | 'items' | 'unavailable'>,
    places: readonly Place[],
    freshUntil: number,
  ): Promise<ResolvedPlaylist> => {
    const items = places.filter((place) => place !== undefined);
    if (items.length === 0)
      throw new NotFound('No entry of the playlist is available', {
        reason: places.length > 0 ? 'not-found' : 'no-media',
      });
    const unavailable = places.flatMap((place, index) => (place ? [] : [index + 1]));
    const counts = withoutAbsent<ListCounts>({ totalEntries, isCut, unavailable });
    const metadata = { title, author, coverUrl, ...counts };
    await cache.putLink({
      type: 'PlayList',
      id: linkId(cacheKey),
      url: link,
      freshUntil,
      expiresAt: epochSeconds() + RETENTION_SECONDS,
      ...metadata,
      entries: items.map(({ entry }) => entry),
    });
    return { type: 'PlayList', ...metadata, items };
  };

  const readStored = async (entry: PlaylistLink['entries'][number]): Promise<ListedEntry | Item> => {
    const resource = entry.resourceId === undefined ? undefined : await cache.getResource(entry.resourceId);
    // What is incomplete is resolved again once it is not fresh.
    if (!resource || (resource.isIncomplete && resource.freshUntil <= epochSeconds())) return toUnresolved(entry);
    await cache.touchResource(resource);
    return { entry, resource };
  };

  return {
    async resolve({ info: list, isIncomplete }, location, resolveListed, deadline) {
      const listed = readEntries(list, location.link);
      const entries = listed.slice(0, playlistLimit);
      const totalEntries = positiveInteger(list.playlist_count);
      const isCut = listed.length >= playlistLimit && totalEntries !== playlistLimit;
      const places = await resolveAll(entries, resolveListed, deadline);
      const metadata = { ...readMetadata(list), totalEntries, isCut };
      return store(location, metadata, places, epochSeconds() + (isIncomplete ? FRESH_SHORT_SECONDS : FRESH_SECONDS));
    },

    async complete(stored, location, resolveListed, deadline) {
      const limit = pLimit(TABLE_READ_CONCURRENCY);
      const entries = await Promise.all(stored.entries.map((entry) => limit(() => readStored(entry))));
      const unresolved = entries.filter(isUnresolved);
      if (unresolved.some(({ entry }) => entry.url === stored.url)) return undefined;
      const { title, author, coverUrl, totalEntries, isCut = false, unavailable = [] } = stored;
      if (unresolved.length === 0)
        return { type: 'PlayList', title, author, coverUrl, totalEntries, isCut, unavailable, items: entries };
      const places: (ListedEntry | Place)[] = [...entries];
      // In ascending order: each is at its place once those before it are.
      for (const number of unavailable) places.splice(number - 1, 0, undefined);
      // Not fresh for longer than before: an entry that always fails must not keep the list from being resolved again.
      const metadata = { title, author, coverUrl, totalEntries, isCut };
      return store(location, metadata, await resolveAll(places, resolveListed, deadline), stored.freshUntil);
    },
  };
}

const isUnresolved = (entry: ListedEntry | Place): entry is ListedEntry => entry !== undefined && 'isResolved' in entry;

/** Undefined when the entry is gone, private or protected; bare metadata when it could not be resolved in time. */
async function settle(listed: ListedEntry, resolveListed: ResolveListed, deadline: Deadline): Promise<Place[]> {
  if (deadline.signal.aborted) return [{ entry: listed.entry }];
  try {
    const resources = await abortable(resolveListed(listed, deadline), deadline.signal);
    return resources.map((resource) => toItem(listed, resource, resources.length === 1));
  } catch (error) {
    return isFinal(error) ? [undefined] : [{ entry: listed.entry }];
  }
}

function toItem({ entry: { url, isNamedByList } }: ListedEntry, resource: Resource, isOnly: boolean): Item {
  const { title, author, coverUrl, origin } = resource;
  const entry = {
    url: isOnly ? url : origin.url,
    title,
    author,
    coverUrl,
    resourceId: resource.id,
    ...(isNamedByList && { isNamedByList }),
  };
  return { entry, resource };
}
