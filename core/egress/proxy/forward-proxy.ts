import type { lookup } from 'node:dns';
import { EventEmitter } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type PrepareRequestFunctionOpts, type PrepareRequestFunctionResult, RequestError, Server } from 'proxy-chain';
import { EgressRefused, UpstreamError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import type { ProxySession, ProxySessionOptions } from '../egress.ts';
import { type Destination, type Dialer, pinnedLookup } from '../guard/index.ts';
import type { ProxyPool } from './proxy-pool.ts';
import { createSessionState, type SessionState } from './proxy-session.ts';

export interface ForwardProxyOptions {
  readonly dialer: Dialer;
  readonly proxyPool: ProxyPool;
  readonly log: Log;
  /** Certificates (PEM) to trust besides the system's, for https proxies. */
  readonly ca?: string;
}

/** The loopback proxy that child processes must use: http by absolute URL, all else by CONNECT. */
export interface ForwardProxy {
  openSession(options: ProxySessionOptions): Promise<ProxySession>;
  close(): Promise<void>;
}

/** Told to a child whose address was refused; CONNECT shows it the status alone. */
const REFUSED = { 'X-Egress': 'refused' };

export function createForwardProxy({ dialer, proxyPool: identities, log, ca }: ForwardProxyOptions): ForwardProxy {
  const leases = new Map<string, SessionState>();
  const leaseOf = (request: IncomingMessage): SessionState | undefined => {
    const [, token] = /^basic +(\S+)$/i.exec(request.headers['proxy-authorization'] ?? '') ?? [];
    return token === undefined ? undefined : leases.get(token);
  };

  const wayTo = async (
    destination: Destination,
    lease: SessionState,
    child: Socket,
    isHttp: boolean,
  ): Promise<PrepareRequestFunctionResult> => {
    const { httpAgent, httpsAgent } = lease;
    const proxy = identities.resolve(lease.identity);
    if (proxy) {
      await dialer.resolve(destination);
      return { httpAgent, httpsAgent, upstreamProxyUrl: proxy.href };
    }
    if (isHttp) {
      const dnsLookup = pinnedLookup(await dialer.resolve(destination)) as typeof lookup;
      return { httpAgent, dnsLookup };
    }
    const upstream = await dialer.connect(destination);
    lease.attach(upstream);
    if (child.destroyed) upstream.destroy();
    child.once('close', () => upstream.destroy());
    return { customConnectServer: tunnelTo(upstream, lease) };
  };

  const prepare = async (asked: PrepareRequestFunctionOpts): Promise<PrepareRequestFunctionResult> => {
    const { request, isHttp } = asked;
    const lease = leaseOf(request);
    if (!lease) return { requestAuthentication: true };
    lease.attach(request.socket);
    if (lease.isExhausted()) throw new RequestError('This lease is spent', 502);
    withoutProxyHeaders(request);

    try {
      return await wayTo(destinationOf(asked), lease, request.socket, isHttp);
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw new RequestError('The upstream cannot be reached', 502);
      lease.refused = true;
      log.info('The egress guard refused an address', { hostname: asked.hostname, port: asked.port });
      throw new RequestError('Refused', 403, REFUSED);
    }
  };

  const server = new GuardedServer(prepare, (request) => {
    const lease = leaseOf(request);
    if (lease) lease.refused = true;
  });
  let listening: Promise<void> | undefined;
  let closed = false;

  return {
    openSession: async (options) => {
      if (closed) throw new UpstreamError('The egress is closed');
      listening ??= server.listen();
      await listening;
      const lease = createSessionState(options, ca);
      leases.set(lease.token, lease);
      return {
        proxyUrl: `http://${lease.username}:${lease.password}@127.0.0.1:${server.port}`,
        refused: () => lease.refused,
        bytesReceived: lease.bytesReceived,
        close: () => {
          leases.delete(lease.token);
          lease.close();
        },
      };
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await listening;
      for (const lease of leases.values()) lease.close();
      leases.clear();
      if (listening) await server.close(true);
    },
  };
}

/** A server that answers a scheme it does not speak as a refusal, like any other way around the guard. */
class GuardedServer extends Server {
  readonly #onRefused: (request: IncomingMessage) => void;

  constructor(
    prepareRequestFunction: (asked: PrepareRequestFunctionOpts) => Promise<PrepareRequestFunctionResult>,
    onRefused: (request: IncomingMessage) => void,
  ) {
    super({ host: '127.0.0.1', port: 0, authRealm: 'egress', prepareRequestFunction });
    this.#onRefused = onRefused;
  }

  override getHandlerOpts(request: IncomingMessage): ReturnType<Server['getHandlerOpts']> {
    const url = request.method === 'CONNECT' ? null : URL.parse(request.url ?? '');
    if (url && url.protocol !== 'http:') {
      this.#onRefused(request);
      throw new RequestError('Refused', 403, REFUSED);
    }
    return super.getHandlerOpts(request);
  }
}

/**
 * The host is read once more as that of an http URL: a CONNECT target is not normalised, so `0x7f.1` would pass for a
 * name.
 */
function destinationOf({ hostname, port }: PrepareRequestFunctionOpts): Destination {
  const url = URL.parse(`http://${hostname}`);
  if (!url?.hostname) throw new EgressRefused('That is no host');
  return { hostname: url.hostname, port };
}

/** Joins a child's CONNECT to a connection that is open already, in the shape the proxy library hands sockets over. */
function tunnelTo(upstream: Socket, lease: SessionState): HttpServer {
  const relay = new EventEmitter().once('connection', (child: Socket) => {
    upstream.pipe(child).pipe(upstream);
    // A reset stays one: a transfer that broke off must not look complete.
    upstream.once('close', (failed) => (failed ? child.resetAndDestroy() : child.destroySoon()));
    lease.countBytes(upstream);
  });
  return relay as HttpServer;
}

/** What is said to this proxy is not said to the upstream (RFC 9110 §7.6.1). */
function withoutProxyHeaders({ rawHeaders }: IncomingMessage): void {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (/^proxy-/i.test(rawHeaders[index] ?? '')) rawHeaders.splice(index, 2);
}
