import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from '@reelay/guarded-fetch';
import { type Log, silentLog } from '../log/index.ts';
import { createProxyPool, type OutgoingIdentities } from './proxy-pool.ts';

/**
 * Connections to addresses that links, sources and releases name. Each, on every hop, goes to an address that the guard admits,
 * that of `packages/guarded-fetch`.
 */
export interface Egress extends GuardedFetch, OutgoingIdentities {
  /**
   * Replaces the configured proxies. Requests under way end through the former ones.
   * @throws Error as `createEgress` does for an invalid one or for a rule without its proxy: the former ones stay
   */
  replaceProxies(urls: readonly string[]): void;
}

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
  const {
    outgoingProxies = [],
    proxyRules: rules,
    log = silentLog,
    sourceAddresses,
    directIdentity: directId,
  } = options;
  const createPool = (urls: readonly string[]) => createProxyPool(urls, log, { rules, sourceAddresses, directId });
  let pool = createPool(outgoingProxies);
  const guardedFetch = createGuardedFetch({
    ...options,
    routes: {
      resolve: (id) => pool.resolve(id),
      sourceAddress: (id) => pool.sourceAddress(id),
      get proxies() {
        return pool.proxies;
      },
      reportFailure: (proxy) => pool.reportFailure(proxy),
      reportSuccess: (proxy) => pool.reportSuccess(proxy),
    },
    onRefused: ({ hostname, port }) => log.info('Egress guard refused an address', { hostname, port }),
  });
  return {
    ...guardedFetch,
    nextIdentity: (link, preferred) => pool.nextIdentity(link, preferred),
    otherIdentity: (link, tried) => pool.otherIdentity(link, tried),
    ownsIdentity: (id) => pool.ownsIdentity(id),
    reportBlocked: (link, id, minRestSeconds) => pool.reportBlocked(link, id, minRestSeconds),
    reportServed: (link, id) => pool.reportServed(link, id),
    blockedAddresses: () => pool.blockedAddresses(),
    replaceProxies(urls) {
      pool = createPool(urls);
    },
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
