import type { Tools } from '../../layers/tools/index.ts';
import { startWorker } from '../../layers/tools/worker/index.ts';
import { problems } from '../api/index.ts';
import { createSingleFlight, type Deadline, deadlineSignal } from '../concurrency/index.ts';
import type { Egress } from '../egress/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { type Link, linkId, type Resource, type ResourceOrigin, resourceId } from '../state/index.ts';
import {
  assembleResource,
  createCachedState,
  epochSeconds,
  findItem,
  identify,
  isList,
  isNamedByList,
  isSearch,
  mergeResource,
  normalizeLink,
  RETENTION_SECONDS,
  refreshTracks,
  type StoreState,
} from './item/index.ts';
import { createPlaylists, type ListContext } from './playlists/index.ts';
import { closeProbe, inspect } from './probe/index.ts';
import type { EntryRequest, Resolved, ResolveEntry, Resolver } from './resolver.ts';
import { createExtractor, type Info, readTracks } from './yt-dlp/index.ts';

export interface ResolverOptions {
  readonly tools: Pick<Tools, 'ytDlp'>;
  readonly egress: Pick<Egress, 'openProxySession' | 'nextIdentity' | 'request'>;
  readonly state: StoreState;
  /** Entries of a playlist resolved at most. @default 200 */
  readonly playlistLimit?: number;
  /** Whether pages of search results are playlists too. @default false: they are not handled */
  readonly search?: boolean;
  /** Netscape cookies file of the operator: whoever asks is then served what that account may see. */
  readonly cookiesFile?: string;
  /** Extra plugin folders of yt-dlp: only tests load any. */
  readonly pluginDirs?: readonly string[];
  /** Links, and entries of one playlist, resolved at once. @default 4 */
  readonly concurrency?: number;
  /** Entries of one playlist resolved at once. @default `concurrency` */
  readonly entriesAtOnce?: number;
  /** Bytes of address space that one resolve may take. @default 1 GiB */
  readonly memoryBytes?: number;
  /** Bytes that one resolve may bring in. @default 64 MiB */
  readonly maxBytes?: number;
  /** Links that may wait for a fork. @default 256 */
  readonly queueLimit?: number;
  /** Where entries of a playlist are resolved. @default here; a Lambda hands each to an invocation of its own */
  readonly resolveEntry?: ResolveEntry;
  /** How yt-dlp is started. @default the warm worker */
  readonly startWorker?: typeof startWorker;
  readonly log?: Log;
}

/** Milliseconds that a refresh may take: the stream that waits for it has begun already. */
const REFRESH_PATIENCE = 25_000;
/** Lists within lists are followed this deep (a channel has tabs, a tab has videos). */
const DEEPEST = 2;

/** Link → Resource, by a warm yt-dlp. Nothing starts before the first question, or `warm`. */
export function createResolver(options: ResolverOptions): Resolver {
  const { egress, state, search = false, playlistLimit = 200, concurrency = 4, log = silentLog } = options;
  const { entriesAtOnce = concurrency, memoryBytes = 2 ** 30, maxBytes = 2 ** 26, queueLimit = 256 } = options;
  const store = createCachedState(state);
  const resolver = createExtractor({
    ...options,
    ...{
      start: options.startWorker ?? startWorker,
      concurrency,
      memoryBytes,
      maxBytes,
      queueLimit,
      playlistLimit,
      log,
    },
  });
  const resolves = createSingleFlight<Resolved>();
  const refreshes = createSingleFlight<Resource>();

  /** The resource that an item is, looked at and kept. */
  const keepItem = async (info: Info, origin: ResourceOrigin, identity: string, bounds: Deadline) => {
    const signal = deadlineSignal(bounds);
    const [standing, candidates] = await Promise.all([
      store.resource(resourceId(origin)),
      inspect(readTracks(info, epochSeconds()), { egress, identity, signal, link: origin.url }),
    ]);
    const found = assembleResource(info, candidates, { origin, egress: identity, now: epochSeconds() });
    const resource = standing ? mergeResource(standing, found) : found;
    await store.keep(resource);
    return resource;
  };

  const resolveEntry: ResolveEntry = async ({ url, entry, within }, bounds) => {
    const link = normalizeLink(url);
    // A list that contains itself would wait for itself.
    if (within.includes(link) || within.length > DEEPEST) throw problems.notFound();
    const list = isNamedByList(entry) ? within.at(-1) : undefined;
    const name = list === undefined ? link : JSON.stringify([list, link]);
    const resolved = await resolveOnce({ link, name, within, entry, ...(list && { list }) }, bounds);
    return resolved.type === 'Media' ? [resolved.resource] : resolved.items.flatMap(({ resource }) => resource ?? []);
  };

  const playlists = createPlaylists({
    store,
    resolveEntry: options.resolveEntry ?? resolveEntry,
    keepEntry: (entry, { link, identity }, bounds) =>
      keepItem(entry.info, { url: link, ...entry.identity }, identity, bounds),
    playlistLimit,
    concurrency: entriesAtOnce,
  });

  const recall = async (known: Link, place: Place, bounds: Deadline): Promise<Resolved | undefined> => {
    if (known.freshUntil <= epochSeconds()) return undefined;
    if (known.type === 'PlayList')
      return playlists.complete(known, { ...place, identity: egress.nextIdentity() }, bounds);
    const resource = await store.resource(known.resourceId);
    if (!resource || resource.freshUntil <= epochSeconds()) return undefined;
    await store.touch(resource);
    return { type: 'Media', resource };
  };

  const discover = async ({ link, name, within, entry, list }: Place, bounds: Deadline): Promise<Resolved> => {
    const identity = egress.nextIdentity();
    const info = await resolver.extract({ url: link, identity, ...bounds, ...(entry && { entry }) });
    if (isList(info)) {
      if (isSearch(info) && !search) throw problems.notDeliverable('Links to search results are not handled.');
      return playlists.resolve(info, { link, name, within, identity }, bounds);
    }
    const origin = { url: link, ...identify(info), ...(list && { list }) };
    const resource = await keepItem(info, origin, identity, bounds);
    const { freshUntil } = resource;
    const expiresAt = epochSeconds() + RETENTION_SECONDS;
    await store.keepLink({
      type: 'Media',
      id: linkId(name),
      url: link,
      resourceId: resource.id,
      freshUntil,
      expiresAt,
    });
    return { type: 'Media', resource };
  };

  const resolveOnce = (place: Place, { deadline, signal }: Deadline): Promise<Resolved> =>
    resolves(
      // Two lists that contain each other must not wait for each other.
      JSON.stringify([...place.within, place.name]),
      async (shared) => {
        const bounds = { deadline, signal: shared };
        const known = await store.link(place.name);
        return (known && (await recall(known, place, bounds))) ?? (await discover(place, bounds));
      },
      signal,
    ).catch(asProblem);

  const refreshNow = async (resource: Resource, signal: AbortSignal): Promise<Resource> => {
    const { origin, egress: identity } = resource;
    const info = await resolver.extract({ url: origin.url, identity, deadline: Date.now() + REFRESH_PATIENCE, signal });
    const item = findItem(info, origin);
    if (!item) throw problems.notFound();
    const renewed = refreshTracks(resource, item, epochSeconds());
    await store.keep(renewed);
    return renewed;
  };

  return {
    resolve(url, { deadline, signal = new AbortController().signal }) {
      const link = normalizeLink(url);
      return resolveOnce({ link, name: link, within: [] }, { deadline, signal });
    },
    resolveEntry: (request, { deadline, signal = new AbortController().signal }) =>
      resolveEntry(request, { deadline, signal }),
    refresh: (resource, signal) =>
      refreshes(resource.id, (shared) => refreshNow(resource, shared), signal).catch(asProblem),
    warm: resolver.warm,
    async close() {
      await Promise.all([resolver.close(), closeProbe()]);
    },
  };
}

/** A link to resolve; as an entry of a list, with what the list says of it. */
interface Place extends Omit<ListContext, 'identity'> {
  readonly entry?: EntryRequest['entry'];
  /** The list whose words for the item win over its own: what is found is then another resource than the link's. */
  readonly list?: string;
}

/** What took too long is a failed fetch; what else is thrown is for whoever answers. */
function asProblem(error: unknown): never {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  throw isTimeout ? problems.fetchFailed(error) : error;
}
