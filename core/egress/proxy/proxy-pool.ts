import { createHash } from 'node:crypto';
import { getRetryDelay } from '../../concurrency/index.ts';
import { matchesSite, normalizeProxyUrl, type ProxyRule, parseProxyRule } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';

/** Outgoing identities: `direct`, and one for each configured proxy. */
export interface ProxyPool {
  /**
   * The id that the rules name for a link, even if its proxy failed; else the ids of the proxies in turn, without those
   * that failed a short while ago unless all did; `direct` without proxies.
   */
  next(link?: string): string;
  /**
   * The proxy of an id; undefined for a direct connection. An id whose proxy is no longer configured maps to another one,
   * always the same, which is logged once.
   */
  resolve(id: string): URL | undefined;
  readonly proxies: readonly URL[];
  /**
   * To be called when a proxy of the pool cannot be reached or rejects its credentials, and not for a failure of the
   * destination: `next` leaves the proxy out for a while, each time twice as long.
   */
  reportFailure(proxy: URL): void;
  /** To be called when a proxy has connected to a destination. */
  reportSuccess(proxy: URL): void;
}

/** Failures of one proxy since it last worked. */
interface Failures {
  count: number;
  /** Epoch milliseconds until which `next` leaves the proxy out. */
  excludedUntil: number;
}

const EXCLUSION = { initialDelayMs: 30_000, maxDelayMs: 30 * 60_000 };

/** Whether a proxy of the pool opens tunnels by SOCKS5 rather than HTTP. */
export const isSocks = (proxy: URL): boolean => proxy.protocol === 'socks5:';

/** The identity of direct connections. */
export const DIRECT = 'direct';

/**
 * Creates the pool of configured proxies.
 * @param urls `http://`, `https://` or `socks5://`, with credentials where the proxy requires them
 * @param rules `host=position`, counted from 1, or `host=direct`; the first that matches applies
 * @throws Error that names an invalid entry by its position alone: the entry may contain a password
 */
export function createProxyPool(urls: readonly string[], log: Log, rules: readonly string[] = []): ProxyPool {
  const idsByPosition = urls.map(identityOf);
  const idOf = (target: ProxyRule['proxy']) => (target === 'direct' ? DIRECT : idsByPosition[target - 1]);
  const siteRules = rules.map((text, index) => {
    const rule = parseProxyRule(text);
    const id = rule && idOf(rule.proxy);
    if (!rule || !id)
      throw new Error(`Proxy rule ${index + 1} is not host=position of an outgoing proxy or host=direct`);
    return { rule, id };
  });
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const ids = [...proxies.keys()];
  const reportedIds = new Set<string>();
  const failing = new Map<URL | undefined, Failures>();
  let nextIndex = 0;

  const fallbackFor = (id: string): URL | undefined => {
    const fallback = ids[createHash('sha256').update(id).digest().readUInt32BE() % ids.length];
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      log.warn('Outgoing proxy is no longer configured, using another one', { id, fallback });
    }
    return fallback === undefined ? undefined : proxies.get(fallback);
  };

  const isExcluded = (id: string) => (failing.get(proxies.get(id))?.excludedUntil ?? 0) > Date.now();
  const next = (link = ''): string => {
    const named = siteRules.find(({ rule }) => matchesSite(rule, link));
    if (named) return named.id;
    for (let skipped = 0; skipped < ids.length; skipped++) {
      const id = ids[nextIndex++ % ids.length];
      if (id !== undefined && !isExcluded(id)) return id;
    }
    return ids[nextIndex++ % ids.length] ?? DIRECT;
  };

  /** Counted from 1, as in the error lines of the setting. */
  const positionOf = (proxy: URL) => [...proxies.values()].indexOf(proxy) + 1;

  return {
    next,
    reportFailure: (proxy) => {
      const { count, excludedUntil } = failing.get(proxy) ?? { count: 0, excludedUntil: 0 };
      // Requests that were under way with the one that failed first.
      if (excludedUntil > Date.now()) return;
      const delayMs = getRetryDelay(count + 1, EXCLUSION);
      failing.set(proxy, { count: count + 1, excludedUntil: Date.now() + delayMs });
      if (count === 0)
        log.warn('Outgoing proxy failed, new resolves use the others', {
          proxy: positionOf(proxy),
          excludedSeconds: delayMs / 1000,
        });
    },
    reportSuccess: (proxy) => {
      if (failing.delete(proxy)) log.info('Outgoing proxy recovered', { proxy: positionOf(proxy) });
    },
    resolve: (id) => (id === DIRECT ? undefined : (proxies.get(id) ?? fallbackFor(id))),
    proxies: [...proxies.values()],
  };
}

/** An id that reveals neither the address nor the credentials of a proxy. */
const identityOf = (url: string): string =>
  `proxy-${createHash('sha256').update(url).digest('base64url').slice(0, 12)}`;

function parseProxy(text: string, index: number): URL {
  const url = normalizeProxyUrl(text);
  if (url !== undefined) return new URL(url);
  throw new Error(
    `Outgoing proxy ${index + 1} is not an http://, https:// or socks5:// URL of host and port, credentials encoded`,
  );
}
