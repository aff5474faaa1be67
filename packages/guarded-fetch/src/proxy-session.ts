import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import type { Destination } from './address-guard.ts';
import { UpstreamError } from './errors.ts';
import { DIRECT } from './outgoing-routes.ts';

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
export interface SessionState {
  /** The credentials as in Proxy-Authorization after `Basic `. */
  readonly token: string;
  readonly username: string;
  readonly password: string;
  readonly identity: string;
  /** Connection pools of this session alone. */
  readonly httpAgent: http.Agent;
  readonly httpsAgent: https.Agent;
  /** The agent over connections that `open` tunnels to the destination of a request; one for the session. */
  tunnelAgent(open: (destination: Destination) => Promise<Socket>): http.Agent;
  /** To be called when the outgoing proxy of the session rejects its credentials. */
  readonly reportProxyFailure: () => void;
  wasRefused: boolean;
  bytesReceived: () => number;
  /** True once `maxBytes` is exceeded or the session is closed: further requests are refused. */
  isExhausted: () => boolean;
  /** Closes the socket with the session; at once if the session is exhausted. */
  attach(socket: Duplex): void;
  /** Counts the bytes that a socket receives. The socket starts to flow: its reader must be attached by the next tick. */
  countBytes(socket: Duplex): void;
  close(): void;
}

/** Creates a session with random credentials. */
export function createSessionState(
  { identity = DIRECT, maxBytes = Number.POSITIVE_INFINITY }: ProxySessionOptions,
  /** For an https proxy. @default the certificates that Node trusts */
  secureContext?: SecureContext,
  /** Called when the outgoing proxy of the session cannot be reached or rejects its credentials. */
  reportProxyFailure: () => void = ignore,
): SessionState {
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
    token: Buffer.from(`${username}:${password}`).toString('base64'),
    username,
    password,
    identity,
    httpAgent,
    httpsAgent,
    tunnelAgent: (open) => {
      tunnels ??= createTunnelAgent(open, onConnection);
      return tunnels;
    },
    reportProxyFailure,
    wasRefused: false,
    bytesReceived: () => received,
    isExhausted,
    attach,
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
