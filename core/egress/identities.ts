import { createHash } from 'node:crypto';
import { DIRECT } from '@reelay/guarded-fetch';
import { normalizeProxyUrl } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { expandAddresses, isDirect, type ProxyPoolOptions } from './outgoing-identities.ts';

/**
 * The outgoing identities of this process.
 * @throws Error that names an invalid entry by its position alone: the entry may contain a password
 */
export function createIdentities(
  urls: readonly string[],
  log: Log,
  { sourceAddresses = [], directId = DIRECT }: Omit<ProxyPoolOptions, 'rules'>,
) {
  const idsByPosition = urls.map(identityOf);
  const proxies = new Map(urls.map((url, index) => [identityOf(url), parseProxy(url, index)]));
  const addresses = new Map(expandAddresses(sourceAddresses).map((address) => [`address-${address}`, address]));
  const configured = [[...proxies.keys()], [...addresses.keys()]].filter((ids) => ids.length > 0);
  const [first = [directId], ...others] = configured;
  const reportedIds = new Set<string>();

  const fallbackFor = (id: string): string => {
    const fallback = first[createHash('sha256').update(id).digest().readUInt32BE() % first.length] as string;
    if (!reportedIds.has(id)) {
      reportedIds.add(id);
      log.warn('Outgoing address is no longer configured, using another one', { id, fallback });
    }
    return fallback;
  };
  const owns = (id: string): boolean => id === directId || proxies.has(id) || addresses.has(id);
  /** The id under which this process sends what a stored id names. */
  const own = (id: string): string => {
    if (owns(id)) return id;
    return isDirect(id) ? directId : fallbackFor(id);
  };
  /** Counted from 1, as in the error lines of the setting. */
  const positionOf = (proxy: URL) => [...proxies.values()].indexOf(proxy) + 1;
  return {
    idsByPosition,
    proxies,
    /** Proxies are used before source addresses. */
    groups: [first, ...others],
    owns,
    own,
    positionOf,
    nameOf(id: string): string {
      const proxy = proxies.get(id);
      return proxy ? `proxy ${positionOf(proxy)}` : (addresses.get(id) ?? DIRECT);
    },
    resolve: (id: string) => proxies.get(own(id)),
    sourceAddress: (id: string) => addresses.get(own(id)),
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
