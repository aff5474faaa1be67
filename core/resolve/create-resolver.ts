import { startYtDlp, type Tools, type YtDlpMode } from '../../layers/tools/index.ts';
import { createSingleFlight } from '../concurrency/index.ts';
import { memoryShares } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { NotFound, StorageFull } from '../errors/index.ts';
import { describeError, type Log, silentLog, withSpan } from '../log/index.ts';
import type { Resource } from '../state/index.ts';
import { createCachedState, epochSeconds, findItem, type ResourceState, refreshTracks } from './item/index.ts';
import { createPlaylists } from './playlists.ts';
import { closeProbe } from './probe/index.ts';
import { createResolveLimits } from './resolve-limits.ts';
import { createLinkResolver } from './resolve-link.ts';
import type { ResolveDeadline, ResolveEntry, ResolveOptions, Resolver } from './resolver.ts';
import { createExtractor } from './yt-dlp/index.ts';

export interface ResolverOptions {
  readonly tools: Pick<Tools, 'ytDlp'>;
  readonly egress: Pick<Egress, 'openProxySession' | 'nextIdentity' | 'request'>;
  readonly state: ResourceState;
  /** Entries of a playlist resolved at most. @default 200 */
  readonly playlistLimit?: number;
  /** Whether pages of search results are playlists too. @default false: they are not handled */
  readonly search?: boolean;
  /** Netscape cookies file of the operator: every client is then served what that account may see. */
  readonly cookiesFile?: string;
  /** Netscape cookies files of single sites. */
  readonly cookiesDir?: readonly string[];
  /** Folder of yt-dlp plugins that the operator trusts. */
  readonly ytDlpPlugins?: string;
  /** As `--extractor-args` of yt-dlp. */
  readonly ytDlpExtractorArgs?: readonly string[];
  /** Browsers that yt-dlp imitates: `target` or `site=target`. */
  readonly impersonate?: readonly string[];
  /** Further plugin folders: only tests load any. */
  readonly pluginDirs?: readonly string[];
  /**
   * Forks of yt-dlp at once, one of which is never granted to a client that holds all others. @default 5, fewer in
   * little memory
   */
  readonly concurrency?: number;
  /** Entries of one playlist resolved at once. @default 4, fewer in little memory */
  readonly entriesAtOnce?: number;
  /** Bytes of address space that one resolve may take. @default 1 GiB, less in little memory */
  readonly memoryBytes?: number;
  /** Bytes that one resolve may download. @default 64 MiB */
  readonly maxBytes?: number;
  /** Links that may wait for a fork, and links that may wait for others of their client. @default 256 */
  readonly queueLimit?: number;
  /** Links of one client resolved at once; eight times as many wait, and further ones fail. @default 8 */
  readonly maxResolvesPerClient?: number;
  /** Where entries of a playlist are resolved. @default in this process; a Lambda hands each to its own invocation */
  readonly resolveEntry?: ResolveEntry;
  /** How yt-dlp is started. @default as a warm worker, else as one process per link */
  readonly startWorker?: typeof startYtDlp;
  /** Called with each change of the mode of yt-dlp, and at its start. */
  readonly onYtDlpMode?: (mode: YtDlpMode) => void;
  readonly log?: Log;
}

/** Links of one client that may wait, per link that runs. */
const WAITING_PER_RUNNING = 8;
/** A stream that is in progress waits for the refresh. */
const REFRESH_TIMEOUT_MS = 25_000;

/** Creates the Resolver: link → Resource by a warm yt-dlp. Nothing starts before the first link, or `warm`. */
export function createResolver(options: ResolverOptions): Resolver {
  const shares = memoryShares();
  const { egress, search = false, playlistLimit = 200, concurrency = shares.forks, log = silentLog } = options;
  const {
    entriesAtOnce = Math.min(4, concurrency),
    memoryBytes = shares.forkBytes,
    maxBytes = 2 ** 26,
    queueLimit = 256,
  } = options;
  const { maxResolvesPerClient = 8, ytDlpPlugins, pluginDirs = [] } = options;
  const cache = createCachedState(options.state);
  const extractor = createExtractor({
    ...options,
    pluginDirs: ytDlpPlugins === undefined ? pluginDirs : [...pluginDirs, ytDlpPlugins],
    extractorArgs: options.ytDlpExtractorArgs,
    startWorker: options.startWorker ?? startYtDlp,
    concurrency,
    memoryBytes,
    maxBytes,
    queueLimit,
    playlistLimit,
    log,
  });
  const playlists = createPlaylists({ cache, playlistLimit, concurrency: entriesAtOnce });
  const { resolveEntry } = options;
  const limits = createResolveLimits({
    maxRunningPerClient: maxResolvesPerClient,
    maxWaitingPerClient: maxResolvesPerClient * WAITING_PER_RUNNING,
    maxWaiting: queueLimit,
  });
  const links = createLinkResolver({ cache, extractor, egress, playlists, limits, search, resolveEntry });
  const refreshes = createSingleFlight<Resource>();

  const refresh = async (resource: Resource, signal: AbortSignal, client?: string): Promise<Resource> => {
    const { origin, egress: identity } = resource;
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const info = await extractor.extract({ url: origin.url, identity, deadline, signal, client });
    const item = findItem(info, origin);
    if (!item) throw new NotFound('The page no longer contains the item');
    const refreshed = refreshTracks(resource, item, epochSeconds());
    await cache.putResource(refreshed).catch((error) => {
      // A full disk does not end a stream: the next one refreshes again.
      if (!(error instanceof StorageFull)) throw error;
    });
    return refreshed;
  };

  return {
    resolve: (url, options) =>
      withSpan(
        'resolve',
        async (span) => {
          const resolved = await links.resolveLink(url, withSignal(options));
          span.set({ 'reelay.resolved': resolved.type === 'Media' ? resolved.resource.origin.extractor : 'playlist' });
          return resolved;
        },
        () => ({ attributes: { 'url.full': describeError(url) } }),
      ),
    resolveEntry: (request, options) => links.resolveEntry(request, withSignal(options)),
    refresh: (resource, signal, client) =>
      withSpan(
        'refresh',
        () => refreshes(resource.id, (shared) => refresh(resource, shared, client), signal),
        () => ({ attributes: { 'reelay.resolved': resource.origin.extractor } }),
      ),
    warm: extractor.warm,
    async close() {
      await Promise.all([extractor.close(), closeProbe()]);
    },
  };
}

const withSignal = (options: ResolveOptions): ResolveDeadline => ({
  ...options,
  signal: options.signal ?? new AbortController().signal,
});
