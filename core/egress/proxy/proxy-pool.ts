import { createHash } from 'node:crypto';
import { normalizeProxyUrl } from '../../config/index.ts';
import type { Log } from '../../log/index.ts';

/** Outgoing identities: `direct`, and one for each configured proxy. */
export interface ProxyPool {
  /** The ids of the proxies in turn; `direct` without proxies. */
  next(): string;
  /**
   * The proxy of an id; undefined for a direct connection. An id whose proxy is no longer configured maps to another one,
   * always the same, which is logged once.
   */
  resolve(id: string): URL | undefined;
  readonly proxies: readonly URL[];
}

/** Whether a proxy of the pool opens tunnels by SOCKS5 rather than HTTP. */
export const isSocks = (proxy: URL): boolean => proxy.protocol === 'socks5:';

/** The identity of direct connections. */
export const DIRECT = 'direct';

/**
 * Creates the pool of configured proxies.
 * @param urls `http://`, `https://` or `socks5://`, with credentials where the proxy requires them
 * @throws Error that names an invalid entry by its position alone: the entry may contain a password
 */
export function createProxyPool(urls: readonly string[], log: Log): ProxyPool {
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const ids = [...proxies.keys()];
  const reportedIds = new Set<string>();
  let nextIndex = 0;

  const fallbackFor = (id: string): URL | undefined => {
    const fallback = ids[createHash('sha256').update(id).digest().readUInt32BE() % ids.length];
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      log.warn('Outgoing proxy is no longer configured, using another one', { id, fallback });
    }
    return fallback === undefined ? undefined : proxies.get(fallback);
  };

  return {
    next: () => ids[nextIndex++ % ids.length] ?? DIRECT,
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
