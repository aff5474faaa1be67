import { readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates } from 'node:tls';
import { createAddressGuard, type Destination } from './address-guard.ts';
import { createDialer, type Lookup } from './dial.ts';
import { createForwardProxy, type ForwardProxy } from './forward-proxy.ts';
import { createGuardedClient, type GuardedClient } from './guarded-client.ts';
import type { OutgoingRoutes } from './outgoing-routes.ts';

export interface GuardedFetchOptions {
  /** `host:port` pairs that are admitted although their addresses are private. Each opens one port of one host. @default none */
  readonly allow?: readonly string[];
  /** @default every connection is direct */
  readonly routes?: OutgoingRoutes;
  /** PEM file of certificates to trust besides the built-in ones. */
  readonly extraCaFile?: string | undefined;
  /** @default the system's resolver */
  readonly lookup?: Lookup | undefined;
  /** For each lookup, connection, TLS handshake and SOCKS handshake. @default 10_000 */
  readonly connectTimeoutMs?: number | undefined;
  /** Called for each destination that a child process is refused. */
  readonly onRefused?: (destination: Destination) => void;
}

/** Connections to addresses that others name. Each, on every hop, goes to an address that the guard admits. */
export interface GuardedFetch extends Pick<GuardedClient, 'request'> {
  /** Opens the loopback forward proxy for one child process, with credentials of its own. @throws UpstreamError once closed */
  readonly openProxySession: ForwardProxy['openSession'];
  /** Closes every connection and the forward proxy. */
  close(): Promise<void>;
}

/**
 * Creates the client and the forward proxy, which starts with the first session.
 * @throws Error with a one-line message for an invalid address to allow
 */
export function createGuardedFetch({ allow = [], extraCaFile, lookup, ...options }: GuardedFetchOptions): GuardedFetch {
  const { connectTimeoutMs } = options;
  const dialer = createDialer({ guard: createAddressGuard(allow), lookup, timeoutMs: connectTimeoutMs });
  const secureContext = extraCaFile === undefined ? undefined : trusting(extraCaFile);
  const client = createGuardedClient({ ...options, dialer, secureContext });
  const forwardProxy = createForwardProxy({ ...options, dialer, secureContext });
  return {
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
