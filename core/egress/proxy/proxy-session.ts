import { randomBytes } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { ProxySessionOptions } from '../egress.ts';
import { DIRECT } from './proxy-pool.ts';

/** What the forward proxy keeps of one child process: its credentials, its connections and how much came back. */
export interface SessionState {
  /** What follows `Basic ` in its Proxy-Authorization. */
  readonly token: string;
  readonly username: string;
  readonly password: string;
  readonly identity: string;
  /** Open and idle connections to upstreams, for this child alone. */
  readonly httpAgent: http.Agent;
  readonly httpsAgent: https.Agent;
  refused: boolean;
  bytesReceived: () => number;
  /** True once more came back than was lent for, or the lease was closed: nothing more is let through. */
  isExhausted: () => boolean;
  /** Ends the socket with the lease, and right away when the lease is spent. */
  attach(socket: Duplex): void;
  /** Counts what an upstream's connection brings. It starts to flow: whoever reads it must listen by the next tick. */
  countBytes(socket: Duplex): void;
  close(): void;
}

export function createSessionState(
  { identity = DIRECT, maxBytes = Number.POSITIVE_INFINITY }: ProxySessionOptions,
  ca?: string,
): SessionState {
  const username = randomBytes(9).toString('hex');
  const password = randomBytes(18).toString('hex');
  const sockets = new Set<Duplex>();
  let received = 0;
  let closed = false;

  const spent = () => closed || received > maxBytes;
  const cut = () => {
    closed = true;
    for (const socket of sockets) socket.destroy();
    httpAgent.destroy();
    httpsAgent.destroy();
  };
  const hold = (socket: Duplex) => {
    if (sockets.has(socket)) return;
    socket.on('error', ignore);
    if (spent()) socket.destroy();
    else sockets.add(socket.once('close', () => sockets.delete(socket)));
  };
  const count = (socket: Duplex) => {
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) cut();
    });
  };
  const onConnection = (socket: Duplex) => {
    hold(socket);
    count(socket);
  };
  const httpAgent = watched(new http.Agent({ keepAlive: true }), onConnection);
  const httpsAgent = watched(new https.Agent({ keepAlive: true, ...(ca && { ca }) }), onConnection);

  return {
    token: Buffer.from(`${username}:${password}`).toString('base64'),
    username,
    password,
    identity,
    httpAgent,
    httpsAgent,
    refused: false,
    bytesReceived: () => received,
    isExhausted: spent,
    attach: hold,
    countBytes: count,
    close: cut,
  };
}

/** An agent that shows every new connection it opens. */
function watched<A extends http.Agent>(agent: A, onConnection: (socket: Duplex) => void): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = createConnection(options, callback);
    if (socket) onConnection(socket);
    return socket;
  };
  return agent;
}

/** Whoever uses the socket hears of its failure too; between two users no one would. */
const ignore = () => undefined;
