import { createGuardedFetch, type GuardedFetchOptions, type OutgoingRoutes } from '@reelay/guarded-fetch';
import { type Log, silentLog } from '../log/index.ts';
import type { Egress } from './egress.ts';
import { createProxyPool } from './proxy-pool.ts';

export interface EgressOptions extends Omit<GuardedFetchOptions, 'routes' | 'onRefused'> {
  /** `http://`, `https://` or `socks5://` proxies, assigned to new resolves in turn. @default none: direct connections */
  readonly outgoingProxies?: readonly string[];
  /** Addresses of this machine or IPv6 prefixes to connect from, in turn, when no proxy is left. @default the system's choice */
  readonly sourceAddresses?: readonly string[];
  /**
   * The identity of direct connections of this process, where other processes that share the state have other addresses:
   * `direct@name`. @default `direct`
   */
  readonly directIdentity?: string;
  /** `host=position` or `host=direct`: which of the proxies the resolves of a site use. @default none */
  readonly proxyRules?: readonly string[];
  readonly log?: Log;
}

/**
 * Creates the egress. The forward proxy starts with the first session.
 * @throws Error with a one-line message for an invalid option
 */
export function createEgress(options: EgressOptions): Egress {
  const { outgoingProxies = [], proxyRules = [], log = silentLog, sourceAddresses, directIdentity: directId } = options;
  const createPool = (urls: readonly string[]) =>
    createProxyPool(urls, log, { rules: proxyRules, sourceAddresses, directId });
  let pool = createPool(outgoingProxies);
  const routes: OutgoingRoutes = {
    resolve: (id) => pool.resolve(id),
    sourceAddress: (id) => pool.sourceAddress(id),
    get proxies() {
      return pool.proxies;
    },
    reportFailure: (proxy) => pool.reportFailure(proxy),
    reportSuccess: (proxy) => pool.reportSuccess(proxy),
  };
  const { request, openProxySession, close } = createGuardedFetch({
    ...options,
    routes,
    onRefused: ({ hostname, port }) => log.info('Egress guard refused an address', { hostname, port }),
  });
  return {
    nextIdentity: (link, preferred) => pool.next(link, preferred),
    otherIdentity: (link, tried) => pool.nextAfter(link, tried),
    ownsIdentity: (id) => pool.owns(id),
    reportBlocked: (link, id, minRestSeconds) => pool.reportBlocked(link, id, minRestSeconds),
    reportServed: (link, id) => pool.reportServed(link, id),
    blockedAddresses: () => pool.blocked(),
    replaceProxies(urls) {
      pool = createPool(urls);
    },
    request,
    openProxySession,
    close,
  };
}

/**
 * Opens a forward proxy that admits one server on this machine besides the public internet, for smoke tests of a program
 * before it is trusted. The proxy has an egress of its own, which `close` ends.
 * @param host `host:port`
 */
export async function openLoopbackProxy(host: string): Promise<{ readonly proxyUrl: string; close(): Promise<void> }> {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.openProxySession({});
  return { proxyUrl, close: egress.close };
}
