import { createSingleFlight, type Deadline, deadlineSignal, ownTurn } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import { NotDeliverable, NotFound } from '../../errors/index.ts';
import { describeError, type Log, withSpan } from '../../log/index.ts';
import { type Link, linkId, type Resource, type ResourceOrigin, resourceId } from '../../state/index.ts';
import { isNamedByList, isSearch } from '../playlists/index.ts';
import { inspect } from '../probe/index.ts';
import type { EntryRequest, ResolveDeadline, Resolved, ResolveEntry } from '../resolver.ts';
import { type Extraction, type Info, identify, isList, normalizeLink, readTracks } from '../yt-dlp/index.ts';
import { assembleResource, epochSeconds, RETENTION_SECONDS } from './assemble-resource.ts';
import type { CachedState } from './cached-state.ts';
import { mergeResource } from './merge-resource.ts';
import type { createAddressedExtractor } from './outgoing-addresses.ts';
import type { Playlists, ResolveListed } from './playlists.ts';
import type { ResolveLimits } from './resolve-limits.ts';

export interface LinkResolverOptions {
  readonly cache: CachedState;
  readonly extract: ReturnType<typeof createAddressedExtractor>;
  readonly egress: Pick<Egress, 'request'>;
  readonly playlists: Playlists;
  readonly limits: ResolveLimits;
  /** Whether pages of search results are playlists too. */
  readonly search: boolean;
  /** Resolves entries of playlists elsewhere. @default in this process */
  readonly resolveEntry?: ResolveEntry;
  readonly log: Log;
}

export interface LinkResolver {
  /** @param link any absolute http or https URL */
  resolveLink(link: string, deadline: ResolveDeadline): Promise<Resolved>;
  /** Resolves an entry in this process. */
  readonly resolveEntry: ResolveEntry;
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

/** Nested lists are followed to this depth (a channel has tabs, a tab has videos). */
const MAX_DEPTH = 2;

/** Link → media or playlist: from the table while it is fresh, else from yt-dlp. */
export function createLinkResolver(options: LinkResolverOptions): LinkResolver {
  const { cache, extract, egress, playlists, limits, search, log } = options;
  const flights = createSingleFlight<Resolved>();

  const resolve = (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved> =>
    flights(
      // The ancestors are part of the key: two lists that contain each other would otherwise wait for each other. So is
      // whether entries may stay bare early: a caller that waits for them must not get the answer of one that does not.
      JSON.stringify([...context.ancestors, context.cacheKey, deadline.entriesDeadline !== undefined]),
      async (shared) => {
        const bounds = { ...deadline, signal: shared };
        return (await fromCache(context, bounds)) ?? fromSource(context, bounds);
      },
      deadline.signal,
    );

  /**
   * As `resolve`, within the limits of the client. They apply to the caller rather than to the shared work: a link that
   * waits for other links of its client must not delay another client that requests it.
   */
  const resolveWithinLimits = async (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved> => {
    const { client } = deadline;
    if (client === undefined) return resolve(context, deadline);
    let release = limits.tryAcquire(client);
    if (!release) {
      // A stored resource needs no slot: no resolve runs for it.
      const stored = await mediaFromCache(await cache.getLink(context.cacheKey));
      if (stored) return stored;
      release = await limits.acquire(client, deadline);
    }
    try {
      return await resolve(context, deadline);
    } finally {
      release(deadline.signal.aborted);
    }
  };

  const fromCache = async (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved | undefined> => {
    const stored = await cache.getLink(context.cacheKey);
    if (stored?.type === 'PlayList' && stored.freshUntil > epochSeconds())
      return playlists.complete(stored, context, resolveByUrl(context), deadline);
    return mediaFromCache(stored);
  };

  const mediaFromCache = async (stored: Link | undefined): Promise<Resolved | undefined> => {
    if (stored?.type !== 'Media' || stored.freshUntil <= epochSeconds()) return undefined;
    const resource = await cache.getResource(stored.resourceId);
    if (!resource || resource.freshUntil <= epochSeconds()) return undefined;
    await cache.touchResource(resource);
    return { type: 'Media', resource };
  };

  const fromSource = async (context: LinkContext, deadline: ResolveDeadline): Promise<Resolved> => {
    const { link, cacheKey, entry, list } = context;
    const extraction = await extract({ url: link, entry, ...deadline });
    const { info, identity } = extraction;
    if (isList(info)) {
      if (isSearch(info) && !search) throw new NotDeliverable('Links to search results are not handled.');
      return playlists.resolve(extraction, context, resolveListed(context, extraction, identity), deadline);
    }
    const resource = await saveItem(extraction, { url: link, ...identify(info), list }, identity, deadline);
    await cache.putLink({
      type: 'Media',
      id: linkId(cacheKey),
      url: link,
      resourceId: resource.id,
      freshUntil: resource.freshUntil,
      expiresAt: epochSeconds() + RETENTION_SECONDS,
    });
    return { type: 'Media', resource };
  };

  /**
   * Builds the Resource of an item: probes its files, merges it with the stored Resource, and stores it.
   * @param identity the outgoing identity that it was extracted through: its URLs may be bound to that address
   * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable
   */
  const saveItem = async (
    { info, isIncomplete: lacksRequests }: Extraction,
    origin: ResourceOrigin,
    identity: string,
    deadline: Deadline,
  ): Promise<Resource> => {
    // Entries of a list are saved at once: each takes some milliseconds.
    await ownTurn();
    const signal = deadlineSignal(deadline);
    const probing = { ...deadline, egress, identity, signal, link: origin.url };
    const [stored, { result: candidates, failure }] = await Promise.all([
      cache.getResource(resourceId(origin)),
      withSpan('inspect tracks', () => inspect(readTracks(info, epochSeconds()), probing)),
    ]);
    const isIncomplete = lacksRequests || failure !== undefined;
    if (isIncomplete)
      log.info('Formats could not be read', {
        url: origin.url,
        error: describeError(failure ?? 'A request of yt-dlp timed out'),
      });
    const found = assembleResource(info, candidates, { origin, egress: identity, now: epochSeconds(), isIncomplete });
    const resource = stored ? mergeResource(stored, found) : found;
    await cache.putResource(resource);
    return resource;
  };

  /** Saves an entry that came with the page of its list; resolves any other by its URL. */
  const resolveListed = (
    context: LinkContext,
    { isIncomplete }: Pick<Extraction, 'isIncomplete'>,
    identity: string,
  ): ResolveListed => {
    const byUrl = resolveByUrl(context);
    return async ({ info, ...listed }, deadline) =>
      listed.isResolved
        ? [await saveItem({ info, isIncomplete }, { url: context.link, ...listed.identity }, identity, deadline)]
        : byUrl({ info, ...listed }, deadline);
  };

  const resolveByUrl =
    ({ ancestors, link }: LinkContext): ResolveListed =>
    ({ entry, info }, deadline) =>
      (options.resolveEntry ?? resolveEntry)(
        { url: entry.url, entry: info, ancestors: [...ancestors, link] },
        deadline,
      );

  const resolveEntry: ResolveEntry = async (request, deadline) => {
    const resolved = await resolve(entryContext(request), deadline);
    return resolved.type === 'Media' ? [resolved.resource] : resolved.items.flatMap(({ resource }) => resource ?? []);
  };

  return {
    resolveLink(url, deadline) {
      const link = normalizeLink(url);
      return resolveWithinLimits({ link, cacheKey: link, ancestors: [] }, deadline);
    },
    resolveEntry,
  };
}

/** @throws NotFound for a list that contains itself, which would wait for itself, and for one nested too deeply */
function entryContext({ url, entry, ancestors }: EntryRequest): LinkContext {
  const link = normalizeLink(url);
  if (ancestors.includes(link) || ancestors.length > MAX_DEPTH) throw new NotFound('The list is nested too deeply');
  const list = isNamedByList(entry) ? ancestors.at(-1) : undefined;
  return { link, cacheKey: list ? JSON.stringify([list, link]) : link, ancestors, entry, list };
}
