import { createSingleFlight } from '../concurrency/index.ts';
import { memoryShares } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { NotFound, StorageFull, UpstreamError } from '../errors/index.ts';
import { createClientNames } from '../http/index.ts';
import { describeError, type Log, silentLog, withSpan } from '../log/index.ts';
import { closeParsing } from '../parsing/index.ts';
import type { Resource } from '../state/index.ts';
import { startYtDlp, type Tools, type YtDlpMode } from '../tools/index.ts';
import {
  createAddressedExtractor,
  createCachedState,
  createLinkResolver,
  createPlaylists,
  createRenewals,
  createResolveLimits,
  epochSeconds,
  findItem,
  hasExpired,
  type OutgoingAddresses,
  type ResourceState,
  refreshTracks,
} from './link/index.ts';
import type { ResolveDeadline, Resolved, ResolveEntry, ResolveOptions, Resolver } from './resolver.ts';
import { createExtractor, text } from './yt-dlp/index.ts';

export interface ResolverOptions {
  readonly tools: Pick<Tools, 'ytDlp'> & Partial<Pick<Tools, 'alternative'>>;
  readonly egress: Pick<Egress, 'openProxySession' | 'request'> & OutgoingAddresses;
  readonly state: ResourceState;
  /** Entries of a playlist resolved at most. @default 200 */
  readonly playlistLimit?: number;
  /** Whether pages of search results are playlists too. @default false: they are not handled */
  readonly search?: boolean;
  /** Netscape cookies file of the operator: every client is then served what that account may see. */
  readonly cookiesFile?: string;
  /** Netscape cookies files of single sites. */
  readonly cookiesDir?: readonly string[];
  /** Whether cookies that a site replaces are written into these files. @default false */
  readonly cookiesWriteBack?: boolean;
  /** PEM file of certificates that yt-dlp trusts besides the built-in ones. */
  readonly extraCaFile?: string;
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
  /** Epoch milliseconds, for the pauses between tests of a release of yt-dlp. @default Date.now */
  readonly now?: () => number;
  /** Called with each change of the mode of yt-dlp, and at its start. */
  readonly onYtDlpMode?: (mode: YtDlpMode) => void;
  readonly log?: Log;
}

/** Links of one client that may wait, per link that runs. */
const WAITING_PER_RUNNING = 8;
/** A stream that is in progress waits for the refresh. */
const REFRESH_TIMEOUT_MS = 25_000;
/** No client waits. */
const CANARY_TIMEOUT_MS = 60_000;
const REFUSED_WITHIN_MS = 30_000;
/** Links with this fragment are those of `reelay_subtitle.py`. `normalizeLink` removes it from links of clients. */
const AS_BROWSER = '#reelay-subtitle';

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
  const extract = createAddressedExtractor(extractor, egress);
  const playlists = createPlaylists({ cache, playlistLimit, concurrency: entriesAtOnce });
  const { resolveEntry } = options;
  const limits = createResolveLimits({
    maxRunningPerClient: maxResolvesPerClient,
    maxWaitingPerClient: maxResolvesPerClient * WAITING_PER_RUNNING,
    maxWaiting: queueLimit,
  });
  const links = createLinkResolver({ cache, extract, egress, playlists, limits, search, resolveEntry, log });
  const refreshes = createSingleFlight<Resource>();
  const renewals = createRenewals();
  const names = createClientNames();
  const closing = new AbortController();

  /** Resolves with the client's name in limits. */
  const resolveNamed = async (url: string, options: ResolveOptions): Promise<Resolved> => {
    const { client } = options;
    if (client === undefined) return links.resolveLink(url, withSignal(options));
    const { name, release } = names.hold(client);
    return links.resolveLink(url, withSignal({ ...options, client: name })).finally(release);
  };

  /** When resources were refreshed, epoch milliseconds. */
  const refreshedAt = new WeakMap<Resource, number>();
  /** Whether a resource must be refreshed again so soon that its site cannot have accepted its URLs. */
  const areUrlsRefused = (resource: Resource): boolean =>
    !resource.isLive && !hasExpired(resource) && Date.now() - (refreshedAt.get(resource) ?? 0) < REFUSED_WITHIN_MS;

  const refresh = async (resource: Resource, signal: AbortSignal, client?: string): Promise<Resource> => {
    // Other streams have met the same refusal.
    const latest = renewals.latest(resource);
    if (latest !== resource && !hasExpired(latest)) return latest;
    const { origin } = resource;
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const isMediaRefused = areUrlsRefused(latest);
    // The site may refuse the address, or the release of yt-dlp.
    const preferred = isMediaRefused ? egress.otherIdentity(origin.url, new Set([latest.egress])) : latest.egress;
    const request = { url: origin.url, preferred, deadline, signal, client, isMediaRefused };
    const { info, isIncomplete, identity } = await extract(request);
    const item = findItem(info, origin);
    if (!item) throw new NotFound('The page no longer contains the item', { reason: 'gone' });
    const refreshed = refreshTracks(resource, { info: item, isIncomplete, identity }, epochSeconds());
    renewals.add(latest, refreshed);
    refreshedAt.set(refreshed, Date.now());
    await store(refreshed);
    return refreshed;
  };

  /** Stores a refreshed resource, unless the table has URLs of another address that may still be valid there. */
  const store = async (refreshed: Resource): Promise<void> => {
    const stored = await cache.getResource(refreshed.id);
    if (stored && stored.egress !== refreshed.egress && !hasExpired(stored)) return;
    await cache.putResource(refreshed).catch((error) => {
      // A full disk does not end a stream: the next one refreshes again.
      if (!(error instanceof StorageFull)) throw error;
    });
  };

  const readAsBrowser: Resolver['readAsBrowser'] = async ({ egress: identity }, { url }, signal, client) => {
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const { info } = await extractor.extract({ url: `${url}${AS_BROWSER}`, identity, deadline, signal, client });
    const file = text(info.reelay_file);
    if (file === undefined) throw new UpstreamError('The subtitle file could not be read');
    return Buffer.from(file, 'base64');
  };

  return {
    readAsBrowser,
    resolve: (url, options) =>
      withSpan(
        'resolve',
        async (span) => {
          const resolved = await resolveNamed(url, options);
          span.set({ 'reelay.resolved': resolved.type === 'Media' ? resolved.resource.origin.extractor : 'playlist' });
          return resolved;
        },
        () => ({ attributes: { 'url.full': describeError(url) } }),
      ),
    resolveEntry: (request, options) => links.resolveEntry(request, withSignal(options)),
    refresh: (resource, signal, client) =>
      withSpan(
        'refresh',
        () => refreshes(`${resource.id} ${resource.egress}`, (shared) => refresh(resource, shared, client), signal),
        () => ({ attributes: { 'reelay.resolved': resource.origin.extractor } }),
      ),
    latest: renewals.latest,
    warm: extractor.warm,
    async testSites(urls) {
      for (const url of urls) {
        const deadline = Date.now() + CANARY_TIMEOUT_MS;
        const request = { url, deadline, signal: closing.signal, isReleaseTest: true };
        await extract(request).catch((error) => {
          if (!closing.signal.aborted)
            log.warn('Canary link failed', { host: URL.parse(url)?.host, error: describeError(error) });
        });
      }
    },
    async close() {
      closing.abort();
      await Promise.all([extractor.close(), closeParsing()]);
    },
  };
}

const withSignal = (options: ResolveOptions): ResolveDeadline => ({
  ...options,
  signal: options.signal ?? new AbortController().signal,
});
