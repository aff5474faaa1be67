import { randomBytes } from 'node:crypto';
import type { lookup } from 'node:dns';
import { EventEmitter } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { type PrepareRequestFunctionOpts, type PrepareRequestFunctionResult, RequestError, Server } from 'proxy-chain';
import type { Destination } from './address-guard.ts';
import { type Dialer, pinnedLookup } from './dial.ts';
import { EgressRefused, UpstreamError } from './errors.ts';
import { DIRECT, DIRECT_ROUTES, isSocks, type OutgoingRoutes } from './outgoing-routes.ts';
import { openRouteTunnel } from './socks-tunnel.ts';

/** Options of `createForwardProxy`. */
interface ForwardProxyOptions {
  readonly dialer: Dialer;
  /** @default every connection is direct */
  readonly routes?: OutgoingRoutes;
  /** Called for each destination that the guard refuses. */
  readonly onRefused?: (destination: Destination) => void;
  /** For https proxies. @default the certificates that Node trusts */
  readonly secureContext?: SecureContext | undefined;
  /** For a connection to a SOCKS proxy, and again for its handshake. @default 10_000 */
  readonly connectTimeoutMs?: number | undefined;
}

/** The loopback proxy for child processes: http by absolute URL, any other protocol by CONNECT. */
export interface ForwardProxy {
  openSession(options: ProxySessionOptions): Promise<ProxySession>;
  close(): Promise<void>;
}

/** Marks a refusal for clients that read response headers; clients of CONNECT see the status alone. */
const REFUSED_HEADERS = { 'X-Egress': 'refused' };

/** Creates the forward proxy; it starts to listen on loopback with the first session. */
export function createForwardProxy(options: ForwardProxyOptions): ForwardProxy {
  const { dialer, routes = DIRECT_ROUTES, onRefused, secureContext, connectTimeoutMs = 10_000 } = options;
  const sessions = new Map<string, SessionState>();
  const sessionOf = (request: IncomingMessage): SessionState | undefined => {
    const [, token] = /^basic +(\S+)$/i.exec(request.headers['proxy-authorization'] ?? '') ?? [];
    return token === undefined ? undefined : sessions.get(token);
  };

  const connectTo = async (
    destination: Destination,
    session: SessionState,
    { request: { socket: child }, isHttp }: PrepareRequestFunctionOpts,
  ): Promise<PrepareRequestFunctionResult> => {
    const { httpAgent, httpsAgent } = session;
    const proxy = routes.resolve(session.identity);
    if (proxy) {
      await dialer.resolve(destination);
      if (!isSocks(proxy)) return { httpAgent, httpsAgent, upstreamProxyUrl: proxy.href, customTag: proxy };
      // proxy-chain's own SOCKS connections bypass the agents, which count the bytes of the session.
      const open = (target: Destination) =>
        openRouteTunnel(routes, { proxy, destination: target, timeoutMs: connectTimeoutMs });
      return isHttp ? { httpAgent: session.tunnelAgent(open) } : connectTunnel(await open(destination), session, child);
    }
    const sourceAddress = routes.sourceAddress(session.identity);
    const connect = (target: Destination) => dialer.connect(target, sourceAddress);
    if (isHttp && sourceAddress !== undefined) return { httpAgent: session.tunnelAgent(connect) };
    if (isHttp) {
      const dnsLookup = pinnedLookup(await dialer.resolve(destination)) as typeof lookup;
      return { httpAgent, dnsLookup };
    }
    return connectTunnel(await connect(destination), session, child);
  };

  const prepare = async (options: PrepareRequestFunctionOpts): Promise<PrepareRequestFunctionResult> => {
    const { request } = options;
    const session = sessionOf(request);
    if (!session) return { requestAuthentication: true };
    session.attach(request.socket);
    if (session.isExhausted()) throw new RequestError('The session has reached its byte limit', 502);
    removeProxyHeaders(request);

    try {
      return await connectTo(destinationOf(options), session, options);
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw new RequestError('Upstream unreachable', 502);
      session.wasRefused = true;
      onRefused?.({ hostname: options.hostname, port: options.port });
      throw new RequestError('Refused', 403, REFUSED_HEADERS);
    }
  };

  const server = new GuardedServer(prepare, {
    onRefused: (request) => {
      const session = sessionOf(request);
      if (session) session.wasRefused = true;
    },
    onProxyAuthFailure: (request) => sessionOf(request)?.reportProxyFailure(),
  });
  server.on('tunnelConnectResponded', ({ customTag }) => routes.reportSuccess(customTag as URL));
  server.on('tunnelConnectFailed', ({ customTag, response }) => {
    if (response.statusCode === 407) routes.reportFailure(customTag as URL);
  });
  let listening: Promise<void> | undefined;
  let closed = false;

  return {
    openSession: async (options) => {
      if (closed) throw new UpstreamError('Egress is closed');
      listening ??= server.listen().catch((error) => {
        // The next session tries again.
        listening = undefined;
        throw error;
      });
      await listening;
      const session = createSessionState(options, secureContext, () => {
        const proxy = routes.resolve(options.identity ?? DIRECT);
        if (proxy) routes.reportFailure(proxy);
      });
      sessions.set(session.token, session);
      return {
        proxyUrl: `http://${session.username}:${session.password}@127.0.0.1:${server.port}`,
        isRefused: () => session.wasRefused,
        bytesReceived: session.bytesReceived,
        close: () => {
          sessions.delete(session.token);
          session.close();
        },
      };
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await listening;
      for (const session of sessions.values()) session.close();
      sessions.clear();
      if (listening) await server.close(true);
    },
  };
}

interface GuardedServerListeners {
  readonly onRefused: (request: IncomingMessage) => void;
  /** The outgoing proxy answered 407 to a request by absolute URL. */
  readonly onProxyAuthFailure: (request: IncomingMessage) => void;
}

/** proxy-chain's status for credentials that an outgoing proxy rejects. */
const PROXY_AUTH_FAILED = 597;

/** A proxy server that refuses URL schemes other than http, which its base class would forward unchecked. */
class GuardedServer extends Server {
  readonly #listeners: GuardedServerListeners;

  constructor(
    prepareRequestFunction: (options: PrepareRequestFunctionOpts) => Promise<PrepareRequestFunctionResult>,
    listeners: GuardedServerListeners,
  ) {
    super({ host: '127.0.0.1', port: 0, authRealm: 'egress', prepareRequestFunction });
    this.#listeners = listeners;
  }

  override getHandlerOpts(request: IncomingMessage): ReturnType<Server['getHandlerOpts']> {
    const url = request.method === 'CONNECT' ? null : URL.parse(request.url ?? '');
    if (url && url.protocol !== 'http:') {
      this.#listeners.onRefused(request);
      throw new RequestError('Refused', 403, REFUSED_HEADERS);
    }
    return super.getHandlerOpts(request);
  }

  override failRequest(request: IncomingMessage, error: NodeJS.ErrnoException): void {
    if (error instanceof RequestError && error.statusCode === PROXY_AUTH_FAILED)
      this.#listeners.onProxyAuthFailure(request);
    super.failRequest(request, error);
  }
}

/** Parses the host as that of an http URL: a CONNECT target is not normalized, and `0x7f.1` would be taken for a name. */
function destinationOf({ hostname, port }: PrepareRequestFunctionOpts): Destination {
  const url = URL.parse(`http://${hostname}`);
  if (!url?.hostname) throw new EgressRefused('Invalid host');
  return { hostname: url.hostname, port };
}

/** The result for a CONNECT over an open upstream socket, which closes with the child and with the session. */
function connectTunnel(upstream: Socket, session: SessionState, child: Socket): PrepareRequestFunctionResult {
  session.attach(upstream);
  if (child.destroyed) upstream.destroy();
  child.once('close', () => upstream.destroy());
  return { customConnectServer: tunnelTo(upstream, session) };
}

/** Connects a child's CONNECT to an open upstream socket, in the form that proxy-chain expects. */
function tunnelTo(upstream: Socket, session: SessionState): HttpServer {
  const relay = new EventEmitter().once('connection', (child: Socket) => {
    upstream.pipe(child).pipe(upstream);
    // Propagates a reset: a truncated transfer must not look complete.
    const close = (failed: boolean) => void (failed ? child.resetAndDestroy() : child.destroySoon());
    if (upstream.closed) close(true);
    else upstream.once('close', close);
    session.countBytes(upstream);
  });
  return relay as HttpServer;
}

/** Removes headers that are meant for this proxy (RFC 9110 §7.6.1). */
function removeProxyHeaders({ rawHeaders }: IncomingMessage): void {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2)
    if (/^proxy-/i.test(rawHeaders[index] ?? '')) rawHeaders.splice(index, 2);
}

import http from 'node:http';
import https from 'node:https';

/** Options of one proxy session. */
export interface ProxySessionOptions {
  readonly identity?: string;
  /** Total response bytes after which its connections are closed. @default unlimited */
  readonly maxBytes?: number;
}

/** Access to the forward proxy for one child process. */
export interface ProxySession {
  /** `http://user:password@127.0.0.1:port`, valid until `close`. */
  readonly proxyUrl: string;
  /** True after the guard has refused an address to this child. */
  readonly isRefused: () => boolean;
  readonly bytesReceived: () => number;
  /** Closes open connections and revokes the credentials. */
  close(): void;
}

/** The forward proxy's state of one session: credentials, connections and received bytes. */
type SessionState = ReturnType<typeof createSessionState>;

/** Creates a session with random credentials. */
function createSessionState(
  { identity = DIRECT, maxBytes = Number.POSITIVE_INFINITY }: ProxySessionOptions,
  /** For an https proxy. @default the certificates that Node trusts */
  secureContext?: SecureContext,
  /** Called when the outgoing proxy of the session cannot be reached or rejects its credentials. */
  reportProxyFailure: () => void = ignore,
) {
  const username = randomBytes(9).toString('hex');
  const password = randomBytes(18).toString('hex');
  const sockets = new Set<Duplex>();
  let received = 0;
  let closed = false;
  let tunnels: http.Agent | undefined;

  const isExhausted = () => closed || received > maxBytes;
  const close = () => {
    closed = true;
    for (const socket of sockets) socket.destroy();
    httpAgent.destroy();
    httpsAgent.destroy();
    tunnels?.destroy();
  };
  const attach = (socket: Duplex) => {
    if (sockets.has(socket)) return;
    socket.on('error', ignore);
    if (isExhausted()) socket.destroy();
    else sockets.add(socket.once('close', () => sockets.delete(socket)));
  };
  const countBytes = (socket: Duplex) => {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) close();
    });
  };
  const onConnection = (socket: Duplex) => {
    attach(socket);
    countBytes(socket);
  };
  /** The agents of a proxied session connect to its proxy only. */
  const onAgentConnection = (connected: 'connect' | 'secureConnect') => (socket: Duplex) => {
    if (identity !== DIRECT) {
      const fail = () => !closed && reportProxyFailure();
      socket.once('error', fail).once(connected, () => socket.off('error', fail));
    }
    onConnection(socket);
  };
  const httpAgent = observeConnections(new http.Agent({ keepAlive: true }), onAgentConnection('connect'));
  const httpsAgent = observeConnections(
    new https.Agent({ keepAlive: true, secureContext }),
    onAgentConnection('secureConnect'),
  );

  return {
    /** The credentials as in Proxy-Authorization after `Basic `. */
    token: Buffer.from(`${username}:${password}`).toString('base64'),
    username,
    password,
    identity,
    httpAgent,
    httpsAgent,
    /** The agent over connections that `open` tunnels to the destination of a request; one for the session. */
    tunnelAgent: (open: (destination: Destination) => Promise<Socket>): http.Agent => {
      tunnels ??= createTunnelAgent(open, onConnection);
      return tunnels;
    },
    /** To be called when the outgoing proxy of the session rejects its credentials. */
    reportProxyFailure,
    wasRefused: false,
    bytesReceived: () => received,
    /** True once `maxBytes` is exceeded or the session is closed: further requests are refused. */
    isExhausted,
    /** Closes the socket with the session; at once if the session is exhausted. */
    attach,
    /** Counts the bytes that a socket receives. The socket starts to flow: its reader must be attached by the next tick. */
    countBytes,
    close,
  };
}

function createTunnelAgent(
  open: (destination: Destination) => Promise<Socket>,
  onConnection: (socket: Duplex) => void,
): http.Agent {
  const agent = new http.Agent({ keepAlive: true });
  agent.createConnection = (options, callback) => {
    const { host, port } = options as { host: string; port: number | string };
    open({ hostname: host, port: Number(port) }).then(
      (socket) => {
        onConnection(socket);
        // The session was closed meanwhile.
        if (socket.destroyed) callback?.(new UpstreamError('The session is closed'), socket);
        else callback?.(null, socket);
        // Once the request has attached its parser.
        process.nextTick(() => socket.resume());
      },
      (error: Error) => (callback as ((error: Error) => void) | undefined)?.(error),
    );
    return undefined;
  };
  return agent;
}

/** Makes an agent report every connection that it opens. */
function observeConnections<A extends http.Agent>(agent: A, onConnection: (socket: Duplex) => void): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = createConnection(options, callback);
    if (socket) onConnection(socket);
    return socket;
  };
  return agent;
}

/** The user of a socket handles its errors; an idle socket in the pool has no user. */
const ignore = () => undefined;
