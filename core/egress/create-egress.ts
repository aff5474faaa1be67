import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates } from 'node:tls';
import { type Log, silentLog } from '../log/index.ts';
import { createGuardedClient } from './client/index.ts';
import type { Egress } from './egress.ts';
import { createAddressGuard, createDialer, type Lookup } from './guard/index.ts';
import { createForwardProxy, createProxyPool, createReplaceablePool } from './proxy/index.ts';

export interface EgressOptions {
  /** `host:port` pairs that are admitted although their addresses are private. Each opens one port of one host. */
  readonly allow: readonly string[];
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
  /** PEM file of certificates to trust besides the built-in ones. */
  readonly extraCaFile?: string;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
  /** For each lookup, connection, TLS handshake and SOCKS handshake. @default 10_000 */
  readonly connectTimeoutMs?: number;
}

/**
 * Creates the egress. The forward proxy starts with the first session.
 * @throws Error with a one-line message for an invalid option
 */
export function createEgress(options: EgressOptions): Egress {
  const { allow, outgoingProxies = [], proxyRules = [], log = silentLog, connectTimeoutMs, extraCaFile } = options;
  const secureContext = extraCaFile === undefined ? undefined : trusting(extraCaFile);
  const { sourceAddresses, directIdentity: directId } = options;
  const createPool = (urls: readonly string[]) =>
    createProxyPool(urls, log, { rules: proxyRules, sourceAddresses, directId });
  const { pool: proxyPool, replace } = createReplaceablePool(createPool(outgoingProxies));
  const dialer = createDialer({
    guard: createAddressGuard(allow),
    lookup: options.lookup,
    timeoutMs: connectTimeoutMs,
  });
  const client = createGuardedClient({ dialer, proxyPool, secureContext, connectTimeoutMs });
  const forwardProxy = createForwardProxy({ dialer, proxyPool, log, secureContext, connectTimeoutMs });
  return {
    nextIdentity: proxyPool.next,
    otherIdentity: proxyPool.nextAfter,
    ownsIdentity: proxyPool.owns,
    reportBlocked: proxyPool.reportBlocked,
    reportServed: proxyPool.reportServed,
    blockedAddresses: proxyPool.blocked,
    replaceProxies: (urls) => replace(createPool(urls)),
    request: client.request,
    openProxySession: forwardProxy.openSession,
    close: async () => {
      await Promise.all([client.close(), forwardProxy.close()]);
    },
  };
}

/** One context for all connections: each would parse the certificates again. */
const trusting = (file: string) =>
  createSecureContext({ ca: [...getCACertificates('default'), readFileSync(file, 'utf8')] });

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
