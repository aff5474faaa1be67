import { memoryShares, type Settings } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { UpstreamError } from '../errors/index.ts';
import { silentLog } from '../log/index.ts';
import { closeParsing } from '../parsing/index.ts';
import type { Resource, Track } from '../state/index.ts';
import {
  createCachedState,
  createExtract,
  createLinkResolver,
  createRefresher,
  createResolveLimits,
  type EntryRequest,
  type LinkResolverOptions,
  type OutgoingAddresses,
  REFRESH_TIMEOUT_MS,
  type Resolved,
  type ResolveOptions,
  type ResourceState,
} from './link/index.ts';
import { createSubtitleReader, type ReadSubtitle } from './read-subtitle.ts';
import { createForks, type ForksOptions, text } from './yt-dlp/index.ts';

/** Link → Resource. */
export interface Resolver {
  /**
   * Resolves a link, from the table while it is fresh there. At most one resolve per link at a time: concurrent callers
   * share it, and it continues while one of them still waits.
   * @param url an absolute http or https URL, as the caller sent it after one decoding
   * @param options.deadline epoch milliseconds: a link that takes longer fails, an entry of a playlist stays bare
   * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable, InMaintenance, CapacityExceeded,
   *   ClientLimitExceeded; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  resolve(url: string, options: ResolveOptions): Promise<Resolved>;
  /**
   * Resolves a stored resource again, through the same outgoing identity unless its site blocks that, and stores its new
   * URLs unless the table has valid ones of another identity: these are kept beside them in memory. At most one refresh per
   * resource and identity at a time. The id and everything promised about its streams stay.
   * @param client whose share of yt-dlp is used: that of the first caller. @default the service itself
   * @throws NotFound when the item or all of its formats are gone, else as `resolve`
   */
  refresh(resource: Resource, signal?: AbortSignal, client?: string): Promise<Resource>;
  /** A resource with the URLs that refreshes in this process have found in place of its own; the same resource if none has. */
  latest(resource: Resource): Resource;
  /**
   * Reads a subtitle file as a browser, through yt-dlp and the outgoing identity of its resource.
   * @param client whose share of yt-dlp is used
   * @throws as `resolve`
   */
  readAsBrowser(resource: Resource, track: Track, signal: AbortSignal, client: string): Promise<Buffer>;
  /**
   * Reads the cues of a subtitle file, resolving again when its URL has expired.
   * @param client whose share of the readers and of yt-dlp is used
   * @throws UpstreamError when it is not a subtitle file, UrlExpired, EgressRefused, and as `refresh`
   */
  readonly readSubtitle: ReadSubtitle;
  /**
   * Resolves one entry of a playlist: for a host that hands entries to other instances of itself.
   * @throws as `resolve`
   */
  resolveEntry(request: EntryRequest, options: ResolveOptions): Promise<readonly Resource[]>;
  /** Starts yt-dlp ahead of the first link, if it is installed. @throws when it does not start */
  warm(): Promise<void>;
  /** Lets further links be resolved with the cookies that the file has now. */
  renewCookies(): void;
  /** Ends yt-dlp, the process that reads containers, and everything in progress. */
  close(): Promise<void>;
}

export interface ResolverOptions
  extends Omit<ForksOptions, 'concurrency' | 'egress' | 'log' | 'playlistLimit' | 'queueLimit'>,
    Pick<LinkResolverOptions, 'resolveEntry'>,
    Partial<Pick<LinkResolverOptions, 'entriesAtOnce' | 'log'>>,
    Partial<Pick<Settings, 'maxResolvesPerClient' | 'playlistLimit' | 'probedHosts' | 'search'>> {
  readonly egress: Pick<Egress, 'openProxySession' | 'request'> & OutgoingAddresses;
  readonly state: ResourceState;
  /**
   * Forks of yt-dlp at once, one of which is never granted to a client that holds all others. @default 5, fewer in
   * little memory
   */
  readonly concurrency?: number;
  /** Links that may wait for a fork, and links that may wait for others of their client. @default 256 */
  readonly queueLimit?: number;
}

/** Links of one client that may wait, per link that runs; further ones fail. */
const WAITING_PER_RUNNING = 8;
/** Links with this fragment are those of `reelay_subtitle.py`. `normalizeLink` removes it from links of clients. */
const AS_BROWSER = '#reelay-subtitle';

/** Creates the Resolver: link → Resource by a warm yt-dlp. Nothing starts before the first link, or `warm`. */
export function createResolver(options: ResolverOptions): Resolver {
  const { egress, search = false, playlistLimit = 200, probedHosts = [], queueLimit = 256, log = silentLog } = options;
  const { concurrency = memoryShares().forks, maxResolvesPerClient = 8 } = options;
  const cache = createCachedState(options.state);
  const forks = createForks({ ...options, concurrency, queueLimit, playlistLimit, log });
  const extract = createExtract(forks, egress);
  const { resolve, resolveEntry } = createLinkResolver({
    cache,
    extract,
    egress,
    search,
    playlistLimit,
    probedHosts,
    log,
    entriesAtOnce: options.entriesAtOnce ?? Math.min(4, concurrency),
    resolveEntry: options.resolveEntry,
    limits: createResolveLimits({
      maxRunningPerClient: maxResolvesPerClient,
      maxWaitingPerClient: maxResolvesPerClient * WAITING_PER_RUNNING,
      maxWaiting: queueLimit,
    }),
  });
  const { refresh, latest } = createRefresher({ cache, extract, egress });
  const readAsBrowser: Resolver['readAsBrowser'] = async ({ egress: identity }, { url }, signal, client) => {
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const { info } = await forks.ask({ url: `${url}${AS_BROWSER}`, identity, deadline, signal, client });
    const file = text(info.reelay_file);
    if (file === undefined) throw new UpstreamError('The subtitle file could not be read');
    return Buffer.from(file, 'base64');
  };

  return {
    resolve,
    resolveEntry,
    refresh,
    latest,
    readAsBrowser,
    readSubtitle: createSubtitleReader({ egress, refresh, latest, readAsBrowser }),
    warm: forks.warm,
    renewCookies: forks.renew,
    async close() {
      await Promise.all([forks.close(), closeParsing()]);
    },
  };
}
