import { type Log, silentLog } from '../log/index.ts';
import { createGuardedClient } from './client/index.ts';
import type { Egress } from './egress.ts';
import { createAddressGuard, createDialer, type Lookup } from './guard/index.ts';
import { createForwardProxy, createProxyPool } from './proxy/index.ts';

export interface EgressOptions {
  /** `host:port` pairs that are admitted though their addresses are private: each opens one port of one host. */
  readonly allow: readonly string[];
  /** `http://` or `https://` proxies that new resolves go through in turn. @default none: straight out */
  readonly outgoingProxies?: readonly string[];
  readonly log?: Log;
  /** Certificates (PEM) to trust besides the system's. */
  readonly ca?: string;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
  /** Milliseconds, for a look-up, a connection and a TLS handshake each. @default 10_000 */
  readonly connectTimeoutMs?: number;
}

/**
 * The only way out. The forward proxy starts with the first lease.
 * @throws Error in one line when a setting makes no sense
 */
export function createEgress(options: EgressOptions): Egress {
  const { allow, outgoingProxies = [], log = silentLog, connectTimeoutMs: connectTimeout } = options;
  const identities = createProxyPool(outgoingProxies, log);
  const dialer = createDialer({
    guard: createAddressGuard(allow),
    ...(options.lookup && { lookup: options.lookup }),
    ...(connectTimeout && { timeoutMs: connectTimeout }),
  });
  const client = createGuardedClient({
    dialer,
    proxyPool: identities,
    ...(options.ca && { ca: options.ca }),
    ...(connectTimeout && { connectTimeoutMs: connectTimeout }),
  });
  const forwardProxy = createForwardProxy({
    dialer,
    proxyPool: identities,
    log,
    ...(options.ca && { ca: options.ca }),
  });
  return {
    nextIdentity: identities.next,
    request: client.request,
    openProxySession: forwardProxy.openSession,
    close: async () => {
      await Promise.all([client.close(), forwardProxy.close()]);
    },
  };
}
