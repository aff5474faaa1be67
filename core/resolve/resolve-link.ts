import { abortable, createSingleFlight, type Deadline } from '@reelay/concurrency';
import pLimit from 'p-limit';
import { NotDeliverable, NotFound } from '../errors/index.ts';
import { createClientNames } from '../http/index.ts';
import { describeError } from '../log/index.ts';
import { type Link, linkId, type PlaylistEntry, type PlaylistLink, pageKey, type Resource } from '../state/index.ts';
import {
  addStall,
  isStall,
  type ReleaseSlot,
  type ResolveLimits,
  requireNotStalled,
  stallFailure,
} from './client-limits.ts';
import type { Extraction, ExtractLink } from './extraction-pool.ts';
import {
  boundEntries,
  type EntryBounds,
  type EntryRequest,
  isNamedByList,
  isSearch,
  isUnresolved,
  type List,
  type ListedEntry,
  type ListItem,
  type PlaylistPosition,
  type ResolveDeadline,
  type ResolvedPlaylist,
  type ResolveEntry,
  readList,
  toItem,
  toPlaylist,
  toUnresolved,
  withGaps,
  withoutLater,
} from './playlist.ts';
import { epochSeconds, RETENTION_SECONDS, type SaveOptions, saveItem } from './save-item.ts';
import { type Info, identify, isList, normalizeLink, permanentReason } from './yt-dlp/index.ts';

/** What a link leads to: an item or a list. */
export type Resolved = { readonly type: 'Media'; readonly resource: Resource } | ResolvedPlaylist;

export interface LinkResolverOptions extends SaveOptions {
  readonly extract: ExtractLink;
  readonly limits: ResolveLimits;
  /** Whether pages of search results are playlists too. */
  readonly resolvesSearches: boolean;
  /** Entries of one page of a playlist at most. */
  readonly playlistLimit: number;
  /** Entries of one playlist resolved at once. @default 4, fewer in little memory */
  readonly entriesAtOnce: number;
  /** Where entries of a playlist are resolved. @default in this process; a Lambda hands each to its own invocation */
  readonly resolveEntry?: ResolveEntry;
}

/** How long a caller waits, and for which client. */
export type ResolveBounds = Omit<ResolveDeadline, 'signal'> & Partial<ResolveDeadline>;

/** Which page of a list is meant. */
export interface PageOfList {
  /** Entries of the list before it; NotFound where there are no more, and for a single item. @default 0 */
  readonly offset?: number | undefined;
}

/**
 * Resolves a link to a resource or a playlist: from the state table while fresh, otherwise by yt-dlp. The way of a link:
 *
 * 1. A client may resolve a few links at once. A stored resource needs no slot; further links wait (`client-limits.ts`).
 * 2. Concurrent callers share one resolve per link, which continues while one of them still waits.
 * 3. A fresh resource of the table is returned. Of a fresh playlist, the entries without a resource are resolved.
 * 4. Otherwise yt-dlp extracts the link, by the next outgoing address if the site blocks one (`extraction-pool.ts`).
 * 5. An item becomes a resource that is stored (`save-item.ts`). The entries of a playlist are resolved as links of their own.
 *    Those that miss their deadline stay bare, and the next request continues with them.
 * 6. A link whose site did not answer in time is remembered for the client, which gets the same failure at once for a while.
 */
export interface LinkResolver {
  /**
   * @param url an absolute http or https URL, as the caller sent it after one decoding
   * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable, InMaintenance, CapacityExceeded,
   *   ClientLimitExceeded; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  resolve(url: string, bounds: ResolveBounds & PageOfList): Promise<Resolved>;
  /**
   * Resolves one entry of a playlist; a nested playlist gives several resources.
   * @throws as `resolve`
   */
  resolveEntry(request: EntryRequest, bounds: ResolveBounds): Promise<readonly Resource[]>;
}

/** A link to resolve; for an entry of a list, with the list's metadata of it. */
interface LinkContext {
  /** In the form of `normalizeLink`. */
  readonly link: string;
  /** Key of the stored link. */
  readonly cacheKey: string;
  /** Entries of the list before the page that is resolved. */
  readonly offset: number;
  readonly ancestors: readonly string[];
  readonly entry?: Info;
  /** The list whose metadata replaces the item's own: the item is then a different resource than that of the plain link. */
  readonly list?: string;
}

/** A playlist; `extraction` is absent when it was read from the table. */
interface ListContext extends LinkContext {
  readonly extraction?: Extraction;
}

/** A channel contains tabs, a tab contains videos. Deeper nesting is NotFound. */
const MAX_DEPTH = 2;
const FRESH_LIST_SECONDS = 3600;
/** For a list that is incomplete because a request took too long. */
const FRESH_INCOMPLETE_LIST_SECONDS = 30;
const TABLE_READS_AT_ONCE = 16;

export function createLinkResolver(options: LinkResolverOptions): LinkResolver {
  const { cache, extract, limits, resolvesSearches, playlistLimit, entriesAtOnce, log } = options;
  const names = createClientNames();
  const flights = createSingleFlight<Resolved>();

  const resolve = async (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved> =>
    await flights(
      // The ancestors are part of the key: two lists that contain each other would otherwise wait for each other. So is
      // which entries may stay bare: a caller that waits for them must not get the answer of one that does not.
      JSON.stringify([...context.ancestors, context.cacheKey, deadline.entriesDeadline !== undefined, deadline.ahead]),
      async (shared) => {
        const bounds = { ...deadline, signal: shared };
        const stored = await findFresh(context.cacheKey);
        const known = stored?.type === 'PlayList' ? completeList(stored, context, bounds) : findMedia(stored);
        return (await known) ?? (await fromSource(stored, context, bounds));
      },
      deadline.signal,
    );

  const findFresh = async (cacheKey: string): Promise<Link | undefined> => {
    const stored = await cache.getLink(linkId(cacheKey));
    return stored && stored.freshUntil > epochSeconds() ? stored : undefined;
  };

  const findMedia = async (stored: Link | undefined): Promise<Resolved | undefined> => {
    if (stored?.type !== 'Media') return undefined;
    const resource = await cache.getResource(stored.resourceId);
    if (!resource || resource.freshUntil <= epochSeconds()) return undefined;
    await cache.touchResource(resource);
    return { type: 'Media', resource };
  };

  const fromSource = async (
    stored: Link | undefined,
    context: LinkContext,
    deadline: ResolveDeadline,
  ): Promise<Resolved> => {
    const { client } = deadline;
    if (client !== undefined && stored?.type === 'Stalled') requireNotStalled(stored, client);
    const startedAt = Date.now();
    try {
      const { link, entry, list, offset } = context;
      const extraction = await extract({ url: link, entry, offset, ...deadline });
      const { info, isIncomplete } = extraction;
      if (isList(info)) {
        if (isSearch(info) && !resolvesSearches) throw new NotDeliverable('Links to search results are not supported.');
        const { head, positions } = readList(info, link, { offset, maxEntries: playlistLimit });
        const found = await resolvePositions(positions, { ...context, extraction }, deadline);
        const freshSeconds = isIncomplete ? FRESH_INCOMPLETE_LIST_SECONDS : FRESH_LIST_SECONDS;
        return await storeList(toPlaylist(head, found), { ...context, ...deadline }, epochSeconds() + freshSeconds);
      }
      if (offset > 0) throw new NotFound('The link is a single item', { reason: 'no-media' });
      const resource = await saveItem(extraction, { url: link, ...identify(info), list }, { ...options, deadline });
      const { id: resourceId, freshUntil } = resource;
      await cache.putLink({ type: 'Media', ...linkBase(context), resourceId, freshUntil });
      return { type: 'Media', resource };
    } catch (error) {
      // The playlist ran out of time, so nothing is known of this entry: the next request continues with it.
      const isCutOff = context.ancestors.length > 0 && Date.now() >= deadline.deadline;
      if (client === undefined || deadline.signal.aborted || isCutOff || !isStall(error, startedAt)) throw error;
      await storeStall(context, client);
      throw stallFailure(error);
    }
  };

  /** Stores the timeout, so that a client waits for a stalled link only once. A later success replaces it. */
  const storeStall = async (context: LinkContext, client: string): Promise<void> => {
    try {
      // Another process may have resolved it meanwhile, or failed for another client.
      const latest = await findFresh(context.cacheKey);
      if (latest === undefined || latest.type === 'Stalled')
        await cache.putLink(addStall(latest, linkBase(context), client));
    } catch (cause) {
      log.warn('Storing the timeout of a link failed', { error: describeError(cause) });
    }
  };

  /**
   * Reads a stored list, and resolves the entries whose resources are not in the table. Undefined when that is not possible
   * entry by entry, because the items came with the page of the list: the list has to be resolved again.
   */
  const completeList = async (
    stored: PlaylistLink,
    context: LinkContext,
    deadline: ResolveDeadline,
  ): Promise<ResolvedPlaylist | undefined> => {
    const entries = await pLimit(TABLE_READS_AT_ONCE).map(stored.entries, readStoredEntry);
    const missing = entries.filter(isUnresolved);
    if (missing.some(({ entry }) => entry.url === stored.url)) return undefined;
    const playlist = toPlaylist(stored, await resolvePositions(withGaps(entries, stored), context, deadline));
    // Not fresh for longer than before: an entry that always fails must not keep the list from being resolved again.
    return missing.length > 0 ? storeList(playlist, { ...context, ...deadline }, stored.freshUntil) : playlist;
  };

  const readStoredEntry = async (entry: PlaylistEntry): Promise<ListedEntry | ListItem> => {
    const resource = entry.resourceId === undefined ? undefined : await cache.getResource(entry.resourceId);
    // What is incomplete is resolved again once it is not fresh.
    if (!resource || (resource.isIncomplete && resource.freshUntil <= epochSeconds())) return toUnresolved(entry);
    await cache.touchResource(resource);
    return { entry, resource };
  };

  const storeList = async (
    playlist: ResolvedPlaylist,
    { ahead, ...context }: LinkContext & Pick<ResolveDeadline, 'ahead'>,
    freshUntil: number,
  ): Promise<ResolvedPlaylist> => {
    const { items, ...head } = playlist;
    if (items.length === 0) {
      const reason = head.unavailable?.length ? 'not-found' : 'no-media';
      throw new NotFound('No entry of the playlist is available', { reason });
    }
    // A caller that needs all entries gets none that is older than the list.
    const entries = items.map(({ entry: { resourceId, ...bare }, resource }) =>
      resourceId && !(ahead && resource && resource.freshUntil <= epochSeconds()) ? { ...bare, resourceId } : bare,
    );
    await cache.putLink({ ...head, ...linkBase(context), freshUntil, entries });
    return playlist;
  };

  /** Resolves the entries of a list that are not resolved yet, as many as the deadline allows. */
  const resolvePositions = async (
    positions: List['positions'],
    list: ListContext,
    deadline: ResolveDeadline,
  ): Promise<readonly PlaylistPosition[]> => {
    const { ahead } = deadline;
    const wanted = ahead ? withoutLater(await readKnown(positions, list), ahead, list.offset) : positions;
    const bounds = boundEntries(deadline);
    const limit = pLimit(entriesAtOnce);
    const found = await Promise.all(
      wanted.map((position) => (isUnresolved(position) ? limit(resolvePosition, position, list, bounds) : [position])),
    );
    deadline.signal.throwIfAborted();
    return found.flat().slice(0, playlistLimit);
  };

  /** Reads the resources that entries have led to, also old ones: their streams resolve them again. */
  const readKnown = (positions: List['positions'], { link }: ListContext): Promise<List['positions']> =>
    pLimit(TABLE_READS_AT_ONCE).map(positions, async (position) => {
      if (!isUnresolved(position) || position.isResolved) return position;
      const { entry } = position;
      const stored = await cache.getLink(linkId(entryKey(entry.url, entry.isNamedByList && link)));
      if (stored?.type !== 'Media') return position;
      const known = await readStoredEntry({ ...entry, resourceId: stored.resourceId });
      const isOld = isUnresolved(known) || !known.resource || known.resource.isLive;
      return isOld ? position : toItem(position, known.resource, true);
    });

  /** An entry that is gone for good leaves a gap; one that fails for another reason keeps the metadata of the list. */
  const resolvePosition = async (
    listed: ListedEntry,
    list: ListContext,
    bounds: EntryBounds,
  ): Promise<PlaylistPosition[]> => {
    // Entries that came with the page of the list are not known without resolving the list again.
    const deadline = listed.isResolved ? bounds.full : bounds.waiting;
    if (deadline.signal.aborted) return [{ entry: listed.entry }];
    try {
      const resources = await abortable(resolveListed(listed, list, deadline), deadline.signal);
      return resources.map((resource) => toItem(listed, resource, resources.length === 1));
    } catch (error) {
      const { entry } = listed;
      const reason = permanentReason(error);
      return [reason === undefined ? { entry } : { url: entry.url, title: entry.title, reason }];
    }
  };

  const resolveListed = async (
    { entry, info, identity, isResolved }: ListedEntry,
    { link, ancestors, offset, extraction }: ListContext,
    deadline: Deadline,
  ): Promise<readonly Resource[]> => {
    if (isResolved && extraction)
      return [
        await saveItem(
          { ...extraction, info },
          { url: link, ...identity, ...(offset > 0 && { offset }) },
          { ...options, deadline },
        ),
      ];
    const request = { url: entry.url, entry: info, ancestors: [...ancestors, link] };
    return options.resolveEntry ? options.resolveEntry(request, deadline) : resolveEntry(request, deadline);
  };

  const resolveEntry: LinkResolver['resolveEntry'] = async (request, options) => {
    const resolved = await resolve(entryContext(request), withSignal(options));
    return resolved.type === 'Media' ? [resolved.resource] : resolved.items.flatMap(({ resource }) => resource ?? []);
  };

  return {
    async resolve(url, { offset = 0, ...options }) {
      const link = normalizeLink(url);
      const cacheKey = pageKey(link, offset);
      const held = options.client === undefined ? undefined : names.hold(options.client);
      const deadline = { ...withSignal(options), client: held?.name };
      let release: ReleaseSlot | undefined;
      try {
        // The limits apply to the caller rather than to the shared work: another client that joins it must not wait for them.
        if (held) {
          release = limits.tryAcquire(held.name);
          // A stored resource needs no slot: no resolve runs for it.
          const stored = release ? undefined : await findMedia(await findFresh(cacheKey));
          if (stored) return stored;
          release ??= await limits.acquire(held.name, deadline);
        }
        return await resolve({ link, cacheKey, offset, ancestors: [] }, deadline);
      } finally {
        release?.(deadline.signal.aborted);
        held?.release();
      }
    },
    resolveEntry,
  };
}

const withSignal = ({ signal = new AbortController().signal, ...options }: ResolveBounds): ResolveDeadline => ({
  ...options,
  signal,
});

const linkBase = ({ cacheKey, link: url }: LinkContext) => ({
  id: linkId(cacheKey),
  url,
  expiresAt: epochSeconds() + RETENTION_SECONDS,
});

/** @throws NotFound for a list that contains itself, which would wait for itself, and for one nested too deeply */
function entryContext({ url, entry, ancestors }: EntryRequest): LinkContext {
  const link = normalizeLink(url);
  if (ancestors.includes(link) || ancestors.length > MAX_DEPTH) throw new NotFound('The list is nested too deeply');
  const list = isNamedByList(entry) ? ancestors.at(-1) : undefined;
  return { link, cacheKey: entryKey(link, list), offset: 0, ancestors, entry, list };
}

const entryKey = (link: string, list?: string): string => (list ? JSON.stringify([list, link]) : link);
