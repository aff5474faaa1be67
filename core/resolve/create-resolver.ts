import { memoryShares, type Settings } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { UpstreamError } from '../errors/index.ts';
import { createClientNames } from '../http/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { closeParsing } from '../parsing/index.ts';
import type { Resource, Track } from '../state/index.ts';
import type { InstalledYtDlp, startYtDlp, YtDlpMode } from '../tools/index.ts';
import {
  createAddressedExtractor,
  createCachedState,
  createLinkResolver,
  createRefresher,
  createResolveLimits,
  type EntryRequest,
  type OutgoingAddresses,
  REFRESH_TIMEOUT_MS,
  type ResolveDeadline,
  type Resolved,
  type ResolveEntry,
  type ResourceState,
} from './link/index.ts';
import { createSubtitleReader, type ReadSubtitle } from './read-subtitle.ts';
import { createExtractor, text } from './yt-dlp/index.ts';

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

/** How long a caller waits, and for which client. */
export type ResolveOptions = Omit<ResolveDeadline, 'signal'> & Partial<ResolveDeadline>;

/** The settings of the service that a resolver knows, by their names. */
type ResolverSettings = Pick<
  Settings,
  | 'cookiesDir'
  | 'cookiesFile'
  | 'cookiesWriteBack'
  | 'extraCaFile'
  | 'impersonate'
  | 'maxResolvesPerClient'
  | 'playlistLimit'
  | 'probedHosts'
  | 'search'
  | 'ytDlpExtractorArgs'
  | 'ytDlpPlugins'
>;

export interface ResolverOptions extends Partial<ResolverSettings> {
  readonly tools: InstalledYtDlp;
  readonly egress: Pick<Egress, 'openProxySession' | 'request'> & OutgoingAddresses;
  readonly state: ResourceState;
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
  /** Where entries of a playlist are resolved. @default in this process; a Lambda hands each to its own invocation */
  readonly resolveEntry?: ResolveEntry;
  /** How yt-dlp is started in each mode. @default startYtDlp */
  readonly start?: typeof startYtDlp;
  /** Called with each change of the mode of yt-dlp, and at its start. */
  readonly onYtDlpMode?: (mode: YtDlpMode) => void;
  readonly log?: Log;
}

/** Links of one client that may wait, per link that runs; further ones fail. */
const WAITING_PER_RUNNING = 8;
/** Links with this fragment are those of `reelay_subtitle.py`. `normalizeLink` removes it from links of clients. */
const AS_BROWSER = '#reelay-subtitle';

/** Creates the Resolver: link → Resource by a warm yt-dlp. Nothing starts before the first link, or `warm`. */
export function createResolver(options: ResolverOptions): Resolver {
  const shares = memoryShares();
  const { egress, search = false, playlistLimit = 200, probedHosts = [], queueLimit = 256, log = silentLog } = options;
  const { concurrency = shares.forks, maxResolvesPerClient = 8, ytDlpPlugins, pluginDirs = [] } = options;
  const cache = createCachedState(options.state);
  const extractor = createExtractor({
    ...options,
    memoryBytes: options.memoryBytes ?? shares.forkBytes,
    maxBytes: options.maxBytes ?? 2 ** 26,
    pluginDirs: ytDlpPlugins === undefined ? pluginDirs : [...pluginDirs, ytDlpPlugins],
    extractorArgs: options.ytDlpExtractorArgs,
    concurrency,
    queueLimit,
    playlistLimit,
    log,
  });
  const extract = createAddressedExtractor(extractor, egress);
  const links = createLinkResolver({
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
    const { info } = await extractor.extract({ url: `${url}${AS_BROWSER}`, identity, deadline, signal, client });
    const file = text(info.reelay_file);
    if (file === undefined) throw new UpstreamError('The subtitle file could not be read');
    return Buffer.from(file, 'base64');
  };
  const names = createClientNames();

  return {
    refresh,
    latest,
    resolve(url, options) {
      const held = options.client === undefined ? undefined : names.hold(options.client);
      const deadline = { ...withSignal(options), client: held?.name };
      return links.resolveLink(url, deadline).finally(held?.release);
    },
    resolveEntry: (request, options) => links.resolveEntry(request, withSignal(options)),
    readAsBrowser,
    readSubtitle: createSubtitleReader({ egress, refresh, latest, readAsBrowser }),
    warm: extractor.warm,
    renewCookies: extractor.renew,
    async close() {
      await Promise.all([extractor.close(), closeParsing()]);
    },
  };
}

const withSignal = (options: ResolveOptions): ResolveDeadline => ({
  ...options,
  signal: options.signal ?? new AbortController().signal,
});
