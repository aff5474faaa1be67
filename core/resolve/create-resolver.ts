import type { YtDlp } from '@reelay/yt-dlp-worker';
import { memoryShares, type Settings } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { UpstreamError } from '../errors/index.ts';
import { describeError, silentLog } from '../log/index.ts';
import { closeParsing } from '../parsing/index.ts';
import { createCachedState, type ResourceState } from './cached-state.ts';
import { createResolveLimits } from './client-limits.ts';
import {
  createAddressRotation,
  createExtractionPool,
  type ExtractionPoolOptions,
  type OutgoingAddresses,
} from './extraction-pool.ts';
import { createSubtitleReader, type SubtitleReader } from './read-subtitle.ts';
import { createRefresher, REFRESH_TIMEOUT_MS, type Refresher } from './refresh-resource.ts';
import { createLinkResolver, type LinkResolver, type LinkResolverOptions } from './resolve-link.ts';
import { text } from './yt-dlp/index.ts';

/** Resolves links, renews the URLs of what they led to, and reads its subtitles. */
export interface Resolver extends LinkResolver, Refresher, SubtitleReader {
  /** Starts yt-dlp ahead of the first link, if it is installed. @throws when it does not start */
  warm(): Promise<void>;
  /** Lets further links be resolved with the cookies that the file has now. */
  renewCookies(): void;
  /** Ends yt-dlp, the process that reads containers, and everything in progress. */
  close(): Promise<void>;
}

export interface ResolverOptions
  extends Omit<ExtractionPoolOptions, 'concurrency' | 'egress' | 'log' | 'playlistLimit' | 'queueLimit'>,
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
  const pool = createExtractionPool({ ...options, concurrency, queueLimit, playlistLimit, log });
  const extract = createAddressRotation(pool, egress);
  const linkResolver = createLinkResolver({
    cache,
    extract,
    egress,
    resolvesSearches: search,
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
  const refresher = createRefresher({ cache, extract, egress });
  const readAsBrowser: SubtitleReader['readAsBrowser'] = async ({ egress: identity }, { url }, signal, client) => {
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const { info } = await pool.extract({ url: `${url}${AS_BROWSER}`, identity, deadline, signal, client });
    const file = text(info.reelay_file);
    if (file === undefined) throw new UpstreamError('The subtitle file could not be read');
    return Buffer.from(file, 'base64');
  };

  return {
    ...linkResolver,
    ...refresher,
    readAsBrowser,
    readSubtitle: createSubtitleReader({ egress, ...refresher, readAsBrowser }),
    warm: pool.warm,
    renewCookies: pool.renew,
    async close() {
      await Promise.all([pool.close(), closeParsing()]);
    },
  };
}

interface CheckLinksOptions
  extends Omit<ExtractionPoolOptions, 'concurrency' | 'egress' | 'playlistLimit' | 'queueLimit' | 'tools'> {
  readonly links: readonly string[];
  readonly egress: ResolverOptions['egress'];
  readonly signal: AbortSignal;
}

/** No client waits. */
const TIMEOUT_MS = 60_000;

/**
 * Extracts links with a yt-dlp that is not in use yet, and stores nothing.
 * @throws Error in one line that names the site of the first link that fails
 */
export async function checkLinks(ytDlp: YtDlp, options: CheckLinksOptions): Promise<void> {
  const { links, egress, log, signal } = options;
  if (links.length === 0) return;
  const pool = createExtractionPool({
    ...options,
    tools: { ytDlp: () => ytDlp },
    concurrency: 1,
    queueLimit: links.length,
    playlistLimit: 1,
  });
  const extract = createAddressRotation(pool, egress);
  try {
    for (const url of links)
      await extract({ url, deadline: Date.now() + TIMEOUT_MS, signal }).catch((error) => {
        signal.throwIfAborted();
        const { host } = new URL(url);
        log.warn('Canary link failed', { host, version: ytDlp.version, error: describeError(error) });
        throw new Error(`a canary link of ${host} does not resolve`, { cause: error });
      });
  } finally {
    await pool.close();
  }
}
