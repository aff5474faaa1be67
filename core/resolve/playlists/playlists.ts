import pLimit from 'p-limit';
import { problems } from '../../api/index.ts';
import { abortable, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import { linkId, type PlaylistLink, type Resource } from '../../state/index.ts';
import {
  type CachedState,
  epochSeconds,
  type ListedEntry,
  RETENTION_SECONDS,
  readEntries,
  toUnresolved,
} from '../item/index.ts';
import type { ResolvedPlaylist, ResolveEntry } from '../resolver.ts';
import { type Info, isFinal, readMetadata } from '../yt-dlp/index.ts';

export interface PlaylistsOptions {
  readonly store: CachedState;
  /** For an entry that its list names by URL alone. */
  readonly resolveEntry: ResolveEntry;
  /** For an entry that was resolved with the page that names it. */
  readonly keepEntry: (entry: ListedEntry, place: ListContext, bounds: Deadline) => Promise<Resource>;
  readonly playlistLimit: number;
  /** Entries resolved at once. */
  readonly concurrency: number;
}

/** Where a list was found. */
export interface ListContext {
  readonly link: string;
  /** What it is kept under in the table. */
  readonly name: string;
  readonly within: readonly string[];
  /** The outgoing identity it was listed through: links that came with it are bound to that address. */
  readonly identity: string;
}

type Item = ResolvedPlaylist['items'][number];

const FRESH_SECONDS = 3600;
/** Milliseconds kept of the deadline to put the answer together. */
const RESERVE = 1000;
const READS_AT_ONCE = 16;

/** Lists of items: their entries side by side, as many as the deadline allows, each failing for itself. */
export function createPlaylists({
  store,
  resolveEntry,
  keepEntry,
  playlistLimit,
  concurrency: sideBySide,
}: PlaylistsOptions) {
  const resourcesOf = async (listed: ListedEntry, place: ListContext, bounds: Deadline) =>
    listed.isResolved
      ? [await keepEntry(listed, place, bounds)]
      : resolveEntry({ url: listed.entry.url, entry: listed.info, within: [...place.within, place.link] }, bounds);

  /** Nothing when it is gone, private or protected; bare metadata when it could not be had in time. */
  const settle = async (listed: ListedEntry, place: ListContext, bounds: Deadline): Promise<Item[]> => {
    if (bounds.signal.aborted) return [{ entry: listed.entry }];
    try {
      const resources = await abortable(resourcesOf(listed, place, bounds), bounds.signal);
      return resources.map((resource) => {
        const url = resources.length === 1 ? listed.entry.url : resource.origin.url;
        const { title, author, coverUrl } = resource;
        const { isNamedByList } = listed.entry;
        const entry = {
          url,
          title,
          author,
          coverUrl,
          resourceId: resource.id,
          ...(isNamedByList && { isNamedByList }),
        };
        return { entry, resource };
      });
    } catch (error) {
      return isFinal(error) ? [] : [{ entry: listed.entry }];
    }
  };

  const settleAll = async (
    work: readonly (ListedEntry | Item)[],
    place: ListContext,
    { deadline, signal }: Deadline,
  ) => {
    const until = deadline - Math.min(RESERVE, Math.max(0, deadline - Date.now()) / 10);
    const bounds = { deadline: until, signal: deadlineSignal({ deadline: until, signal }) };
    const limit = pLimit(sideBySide);
    const items = await Promise.all(
      work.map((one) => ('isResolved' in one ? limit(() => settle(one, place, bounds)) : [one])),
    );
    signal.throwIfAborted();
    return items.flat().slice(0, playlistLimit);
  };

  const keep = async (
    { link, name }: ListContext,
    metadata: Omit<ResolvedPlaylist, 'type' | 'items'>,
    items: readonly Item[],
    freshUntil = epochSeconds() + FRESH_SECONDS,
  ) => {
    if (items.length === 0) throw problems.notFound();
    const { title, author, coverUrl } = metadata;
    await store.keepLink({
      type: 'PlayList',
      id: linkId(name),
      url: link,
      freshUntil,
      expiresAt: epochSeconds() + RETENTION_SECONDS,
      title,
      author,
      coverUrl,
      entries: items.map(({ entry }) => entry),
    });
    return { type: 'PlayList', title, author, coverUrl, items } as const;
  };

  return {
    /**
     * Resolves what yt-dlp lists.
     * @throws Problem 404 when nothing of it is left
     */
    async resolve(list: Info, place: ListContext, bounds: Deadline): Promise<ResolvedPlaylist> {
      const entries = readEntries(list, place.link).slice(0, playlistLimit);
      return keep(place, readMetadata(list), await settleAll(entries, place, bounds));
    },

    /**
     * Answers from the table and resolves what is missing there. Undefined when that cannot be done entry by entry: the
     * items of one page come together.
     */
    async complete(known: PlaylistLink, place: ListContext, bounds: Deadline): Promise<ResolvedPlaylist | undefined> {
      const limit = pLimit(READS_AT_ONCE);
      const work = await Promise.all(
        known.entries.map((entry) =>
          limit(async () => {
            const resource = entry.resourceId === undefined ? undefined : await store.resource(entry.resourceId);
            if (!resource) return toUnresolved(entry);
            await store.touch(resource);
            return { entry, resource };
          }),
        ),
      );
      const missing = work.filter((one) => 'isResolved' in one);
      if (missing.some(({ entry }) => entry.url === known.url)) return undefined;
      // One that always fails must not keep the list from being read anew.
      if (missing.length > 0) return keep(place, known, await settleAll(work, place, bounds), known.freshUntil);
      const { title, author, coverUrl } = known;
      return { type: 'PlayList', title, author, coverUrl, items: work.filter((one) => !('isResolved' in one)) };
    },
  };
}
