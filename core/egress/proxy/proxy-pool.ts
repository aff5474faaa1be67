import { createHash } from 'node:crypto';
import type { Log } from '../../log/index.ts';

/** The ways out by name: straight, or through one of the outgoing proxies. */
export interface ProxyPool {
  /** `direct`, or the proxies' ids in turn. */
  next(): string;
  /**
   * The proxy behind an id; undefined: straight out. An id whose proxy is no longer configured falls to one of the
   * others, always the same one, and the log says so.
   */
  resolve(id: string): URL | undefined;
  readonly proxies: readonly URL[];
}

export const DIRECT = 'direct';

/**
 * @param urls `http://` or `https://`, with credentials where the proxy asks for them
 * @throws Error that names the entry by its place only: it may hold a password
 */
export function createProxyPool(urls: readonly string[], log: Log): ProxyPool {
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const ids = [...proxies.keys()];
  const orphans = new Set<string>();
  let turn = 0;

  const heirOf = (id: string): URL | undefined => {
    const heir = ids[createHash('sha256').update(id).digest().readUInt32BE() % ids.length];
    if (!orphans.has(id)) {
      orphans.add(id);
      log.warn('An outgoing proxy that links were resolved through is no longer configured', { id, instead: heir });
    }
    return heir === undefined ? undefined : proxies.get(heir);
  };

  return {
    next: () => ids[turn++ % ids.length] ?? DIRECT,
    resolve: (id) => (id === DIRECT ? undefined : (proxies.get(id) ?? heirOf(id))),
    proxies: [...proxies.values()],
  };
}

/** Names a proxy without telling where it is or how to log in. */
const identityOf = (url: string): string =>
  `proxy-${createHash('sha256').update(url).digest('base64url').slice(0, 12)}`;

function parseProxy(text: string, index: number): URL {
  const url = URL.parse(text);
  const isOrigin = url && /^https?:$/.test(url.protocol) && url.pathname + url.search + url.hash === '/';
  if (!isOrigin || ![url.username, url.password].every(isPercentEncoded))
    throw new Error(
      `Outgoing proxy ${index + 1} is not an http:// or https:// URL of host and port, credentials encoded`,
    );
  return url;
}

/** The libraries that log in with it decode it first, and fail without a word of which setting it was. */
function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // told by the caller
  }
}
