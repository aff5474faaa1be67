import { type Log, silentLog } from '../log/index.ts';
import { createGuardedClient } from './client/index.ts';
import type { Egress } from './egress.ts';
import { createAddressGuard, createDialer, type Lookup } from './guard/index.ts';
import { createForwardProxy, createProxyPool } from './proxy/index.ts';

export interface EgressOptions {
  /** `host:port` pairs that are admitted although their addresses are private. Each opens one port of one host. */
  readonly allow: readonly string[];
  /** `http://`, `https://` or `socks5://` proxies, assigned to new resolves in turn. @default none: direct connections */
  readonly outgoingProxies?: readonly string[];
  /** `host=position` or `host=direct`: which of the proxies the resolves of a site use. @default none */
  readonly proxyRules?: readonly string[];
  readonly log?: Log;
  /** Certificates (PEM) to trust in addition to the system's. */
  readonly ca?: string;
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
  const { allow, outgoingProxies = [], proxyRules = [], log = silentLog, connectTimeoutMs } = options;
  const proxyPool = createProxyPool(outgoingProxies, log, proxyRules);
  const dialer = createDialer({
    guard: createAddressGuard(allow),
    lookup: options.lookup,
    timeoutMs: connectTimeoutMs,
  });
  const client = createGuardedClient({ dialer, proxyPool, ca: options.ca, connectTimeoutMs });
  const forwardProxy = createForwardProxy({ dialer, proxyPool, log, ca: options.ca, connectTimeoutMs });
  return {
    nextIdentity: proxyPool.next,
    request: client.request,
    openProxySession: forwardProxy.openSession,
    close: async () => {
      await Promise.all([client.close(), forwardProxy.close()]);
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
