import { abortable, createSingleFlight, type Deadline } from '@reelay/concurrency';
import pLimit from 'p-limit';
import { NotDeliverable, NotFound } from '../../errors/index.ts';
import { createClientNames } from '../../http/index.ts';
import { describeError } from '../../log/index.ts';
import { type Link, linkId, type PlaylistEntry, type PlaylistLink, type Resource } from '../../state/index.ts';
import {
  isNamedByList,
  isSearch,
  isUnresolved,
  type List,
  type ListedEntry,
  type ListItem,
  type Place,
  type ResolvedPlaylist,
  readList,
  toItem,
  toPlaylist,
  toUnresolved,
  withGaps,
} from '../playlists/index.ts';
import { type Extraction, type Info, identify, isFinal, isList, normalizeLink } from '../yt-dlp/index.ts';
import { epochSeconds, RETENTION_SECONDS, type SaveOptions, saveItem } from './assemble-resource.ts';
import {
  boundEntries,
  type EntryBounds,
  type EntryRequest,
  type ResolveDeadline,
  type ResolveEntry,
  type ResolveOptions,
} from './entry-bounds.ts';
import type { Extract } from './extract.ts';
import type { Release, ResolveLimits } from './resolve-limits.ts';
import { addStall, isStall, requireNotStalled, stallFailure } from './stalled-links.ts';

/** What a link leads to: an item or a list. */
export type Resolved = { readonly type: 'Media'; readonly resource: Resource } | ResolvedPlaylist;

export interface LinkResolverOptions extends SaveOptions {
  readonly extract: Extract;
  readonly limits: ResolveLimits;
  /** Whether pages of search results are playlists too. */
  readonly search: boolean;
  /** Entries of one playlist at most. */
  readonly playlistLimit: number;
  /** Entries of one playlist resolved at once. @default 4, fewer in little memory */
  readonly entriesAtOnce: number;
  /** Where entries of a playlist are resolved. @default in this process; a Lambda hands each to its own invocation */
  readonly resolveEntry?: ResolveEntry;
}

/** As the methods of `Resolver`. */
interface LinkResolver {
  resolve(url: string, options: ResolveOptions): Promise<Resolved>;
  resolveEntry(request: EntryRequest, options: ResolveOptions): Promise<readonly Resource[]>;
}

/** A link to resolve; for an entry of a list, with the list's metadata of it. */
interface LinkContext {
  /** In the form of `normalizeLink`. */
  readonly link: string;
  /** Key of the stored link. */
  readonly cacheKey: string;
  readonly ancestors: readonly string[];
  readonly entry?: Info;
  /** The list whose metadata replaces the item's own: the item is then a different resource than that of the plain link. */
  readonly list?: string;
}

/** A list, with what its page has said of its entries unless it was read from the table. */
interface ListContext extends LinkContext {
  readonly extraction?: Extraction;
}

/** Nested lists are followed to this depth (a channel has tabs, a tab has videos). */
const MAX_DEPTH = 2;
const FRESH_LIST_SECONDS = 3600;
/** For a list that is incomplete because a request took too long. */
const FRESH_INCOMPLETE_LIST_SECONDS = 30;
const TABLE_READS_AT_ONCE = 16;

/** Link → media or playlist: from the table while it is fresh, else from yt-dlp. */
export function createLinkResolver(options: LinkResolverOptions): LinkResolver {
  const { cache, extract, limits, search, playlistLimit, entriesAtOnce, log } = options;
  const names = createClientNames();
  const flights = createSingleFlight<Resolved>();

  const resolve = async (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved> =>
    await flights(
      // The ancestors are part of the key: two lists that contain each other would otherwise wait for each other. So is
      // whether entries may stay bare early: a caller that waits for them must not get the answer of one that does not.
      JSON.stringify([...context.ancestors, context.cacheKey, deadline.entriesDeadline !== undefined]),
      async (shared) => {
        const bounds = { ...deadline, signal: shared };
        const stored = await findFresh(context.cacheKey);
        const known = stored?.type === 'PlayList' ? completeList(stored, context, bounds) : findMedia(stored);
        return (await known) ?? (await fromSource(stored, context, bounds));
      },
      deadline.signal,
    );

  const findFresh = async (cacheKey: string): Promise<Link | undefined> => {
    const stored = await cache.getLink(cacheKey);
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
      const { link, entry, list } = context;
      const extraction = await extract({ url: link, entry, ...deadline });
      const { info, isIncomplete } = extraction;
      if (isList(info)) {
        if (isSearch(info) && !search) throw new NotDeliverable('Links to search results are not supported.');
        const { head, places } = readList(info, link, playlistLimit);
        const found = await resolvePlaces(places, { ...context, extraction }, deadline);
        const freshSeconds = isIncomplete ? FRESH_INCOMPLETE_LIST_SECONDS : FRESH_LIST_SECONDS;
        return await storeList(toPlaylist(head, found), context, epochSeconds() + freshSeconds);
      }
      const resource = await saveItem(extraction, { url: link, ...identify(info), list }, { ...options, deadline });
      const { id: resourceId, freshUntil } = resource;
      await cache.putLink({ type: 'Media', ...linkBase(context), resourceId, freshUntil });
      return { type: 'Media', resource };
    } catch (error) {
      // The deadline of a list says nothing of its entry: the next request continues with it.
      const isCutOff = context.ancestors.length > 0 && Date.now() >= deadline.deadline;
      if (client === undefined || deadline.signal.aborted || isCutOff || !isStall(error, startedAt)) throw error;
      await storeStall(context, client);
      throw stallFailure(error);
    }
  };

  /** A link that stalls costs a client its deadline once. A later success replaces what is stored of that. */
  const storeStall = async (context: LinkContext, client: string): Promise<void> => {
    try {
      // Another process may have resolved it meanwhile, or failed for another client.
      const latest = await findFresh(context.cacheKey);
      if (latest === undefined || latest.type === 'Stalled')
        await cache.putLink(addStall(latest, linkBase(context), client));
    } catch (cause) {
      log.warn('Failed to store that a link stalls', { error: describeError(cause) });
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
    const playlist = toPlaylist(stored, await resolvePlaces(withGaps(entries, stored.unavailable), context, deadline));
    // Not fresh for longer than before: an entry that always fails must not keep the list from being resolved again.
    return missing.length > 0 ? storeList(playlist, context, stored.freshUntil) : playlist;
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
    context: LinkContext,
    freshUntil: number,
  ): Promise<ResolvedPlaylist> => {
    const { items, ...head } = playlist;
    if (items.length === 0) {
      const reason = head.unavailable?.length ? 'not-found' : 'no-media';
      throw new NotFound('No entry of the playlist is available', { reason });
    }
    await cache.putLink({ ...head, ...linkBase(context), freshUntil, entries: items.map(({ entry }) => entry) });
    return playlist;
  };

  /** Resolves the entries of a list that are not resolved yet, as many as the deadline allows. */
  const resolvePlaces = async (
    places: List['places'],
    list: ListContext,
    deadline: ResolveDeadline,
  ): Promise<readonly Place[]> => {
    const bounds = boundEntries(deadline);
    const limit = pLimit(entriesAtOnce);
    const found = await Promise.all(
      places.map((place) => (isUnresolved(place) ? limit(resolvePlace, place, list, bounds) : [place])),
    );
    deadline.signal.throwIfAborted();
    return found.flat().slice(0, playlistLimit);
  };

  /** An entry that is gone for good leaves a gap; one that fails for another reason keeps the metadata of the list. */
  const resolvePlace = async (listed: ListedEntry, list: ListContext, bounds: EntryBounds): Promise<Place[]> => {
    // Entries that came with the page of the list are not known without resolving the list again.
    const deadline = listed.isResolved ? bounds.full : bounds.waiting;
    if (deadline.signal.aborted) return [{ entry: listed.entry }];
    try {
      const resources = await abortable(resolveListed(listed, list, deadline), deadline.signal);
      return resources.map((resource) => toItem(listed, resource, resources.length === 1));
    } catch (error) {
      return isFinal(error) ? [undefined] : [{ entry: listed.entry }];
    }
  };

  const resolveListed = async (
    { entry, info, identity, isResolved }: ListedEntry,
    { link, ancestors, extraction }: ListContext,
    deadline: Deadline,
  ): Promise<readonly Resource[]> => {
    if (isResolved && extraction)
      return [await saveItem({ ...extraction, info }, { url: link, ...identity }, { ...options, deadline })];
    const request = { url: entry.url, entry: info, ancestors: [...ancestors, link] };
    return options.resolveEntry ? options.resolveEntry(request, deadline) : resolveEntry(request, deadline);
  };

  const resolveEntry: LinkResolver['resolveEntry'] = async (request, options) => {
    const resolved = await resolve(entryContext(request), withSignal(options));
    return resolved.type === 'Media' ? [resolved.resource] : resolved.items.flatMap(({ resource }) => resource ?? []);
  };

  return {
    async resolve(url, options) {
      const link = normalizeLink(url);
      const held = options.client === undefined ? undefined : names.hold(options.client);
      const deadline = { ...withSignal(options), client: held?.name };
      let release: Release | undefined;
      try {
        // The limits apply to the caller rather than to the shared work: another client that joins it must not wait for them.
        if (held) {
          release = limits.tryAcquire(held.name);
          // A stored resource needs no slot: no resolve runs for it.
          const stored = release ? undefined : await findMedia(await findFresh(link));
          if (stored) return stored;
          release ??= await limits.acquire(held.name, deadline);
        }
        return await resolve({ link, cacheKey: link, ancestors: [] }, deadline);
      } finally {
        release?.(deadline.signal.aborted);
        held?.release();
      }
    },
    resolveEntry,
  };
}

const withSignal = ({ signal = new AbortController().signal, ...options }: ResolveOptions): ResolveDeadline => ({
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
  return { link, cacheKey: list ? JSON.stringify([list, link]) : link, ancestors, entry, list };
}
