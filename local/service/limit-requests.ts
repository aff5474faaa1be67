import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createRateLimit, createSemaphore } from '@reelay/concurrency';
import { problems } from '../../core/api/index.ts';
import type { Settings } from '../../core/config/index.ts';
import { clientOf, corsHeaders, networkOf } from '../../core/http/index.ts';
import { answerProblem, clientOfRequest } from './exchange.ts';

interface RequestLimitOptions
  extends Pick<Settings, 'maxRequestsPerClient' | 'maxStreamsPerClient' | 'trustedProxies' | 'corsAllowedOrigins'> {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
}

/** Limits the requests of each client before they cost anything: a flood of cheap ones delays all others too. */
export interface RequestLimit {
  /**
   * Calls `serve` for a request: later, when its client sends many while others are served. Answers one beyond the limit with
   * 429 instead, or holds its connection. A connection with many open responses is not read until they are sent.
   */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void;
  /**
   * Takes a new connection of a client that continues to send requests beyond the limit, and closes it later: one that is
   * closed at once is opened again at once. Closes one of a client that has too many.
   * @returns false when it is taken, and must not be read
   */
  admitConnection(socket: Socket): boolean;
}

/** Seconds of its limit that a client may use at once. */
const BURST_SECONDS = 10;
/** A client that continues is refused for so long after it has stopped. */
const MAX_DEBT_SECONDS = 5;
/** A client with a longer wait has ignored refusals: it gets no more of them, since they cost more than its requests. */
const IGNORED_MS = 1_000;
/** The limit of a /48 network of IPv6, which may contain 256 clients, as a multiple of that of one client. */
const CLIENTS_PER_NETWORK = 4;
const HOLD_MS = 1_000;
/** Open responses of a connection. HTTP clients pipeline few requests; an attacker may send many without reading any response. */
const MAX_OPEN_PER_CONNECTION = 16;
/** Connections of a client, or twice its streams where that is more. Browsers have six for each host, downloaders some dozens. */
const MIN_CONNECTIONS_PER_CLIENT = 512;
/** Bounds the held connections of all clients: each is a file descriptor and some kilobytes. */
const MAX_HELD = 1_000;

/** Beyond this, requests of one client wait while others are served, so that a client with few requests never notices. */
const PACE = { perSecond: 50, burst: 200, maxDebt: 50 };
/** A client counts as being served while it has an open response, and for this time afterwards. */
const OTHERS_MS = 1_000;

const UNLIMITED: RequestLimit = { admit: (_request, _response, serve) => serve(), admitConnection: () => true };

export function createRequestLimit(options: RequestLimitOptions): RequestLimit {
  const { maxRequestsPerClient, maxStreamsPerClient, trustedProxies, corsAllowedOrigins } = options;
  const { now = () => performance.now() } = options;
  if (maxRequestsPerClient === 0) return UNLIMITED;
  const createLimit = (perSecond: number) =>
    createRateLimit({ perSecond, burst: perSecond * BURST_SECONDS, maxDebt: perSecond * MAX_DEBT_SECONDS, now });
  const ofClients = createLimit(maxRequestsPerClient);
  const ofNetworks = createLimit(maxRequestsPerClient * CLIENTS_PER_NETWORK);
  const pace = createRateLimit({ ...PACE, now });
  const served = createServedClients(now);
  /** A proxy has the connections of all its clients. */
  const maxConnections =
    trustedProxies > 0 ? Number.POSITIVE_INFINITY : Math.max(MIN_CONNECTIONS_PER_CLIENT, 2 * maxStreamsPerClient);
  const connections = createSemaphore({ maxPerClient: maxConnections });
  const openResponses = new WeakMap<Socket, number>();
  const held = new Set<Socket>();

  const take = (client: string): number => {
    const network = networkOf(client);
    return Math.max(ofClients.take(client), network === undefined ? 0 : ofNetworks.take(network));
  };
  const isIgnored = (waitMs: number) => waitMs > IGNORED_MS && trustedProxies === 0;

  /** Does not read a connection, and closes it later. */
  const hold = (socket: Socket) => {
    pauseSoon(socket, () => true);
    if (held.size >= MAX_HELD) return void socket.destroy();
    held.add(socket);
    const timer = setTimeout(() => socket.destroy(), HOLD_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      held.delete(socket);
    });
  };

  const isFull = (socket: Socket) => (openResponses.get(socket) ?? 0) >= MAX_OPEN_PER_CONNECTION;
  const countResponse = (socket: Socket, response: ServerResponse) => {
    const open = (openResponses.get(socket) ?? 0) + 1;
    openResponses.set(socket, open);
    if (open >= MAX_OPEN_PER_CONNECTION) pauseSoon(socket, () => isFull(socket));
    response.once('close', () => {
      const left = (openResponses.get(socket) ?? 0) - 1;
      openResponses.set(socket, left);
      // Before, Node may have paused it too: it must not be read while the parser waits.
      if (left > 0 || !socket.isPaused() || held.has(socket)) return;
      if (socket.writableNeedDrain) socket.once('drain', () => socket.resume());
      else socket.resume();
    });
  };

  return {
    admit(request, response, serve) {
      const { socket, headers } = request;
      const client = clientOfRequest(request, trustedProxies);
      const waitMs = take(client);
      // Node has parsed all requests that it had read of a connection when it is closed or held: they have cost that, and count.
      if (socket.destroyed || held.has(socket)) return;
      if (isIgnored(waitMs)) return hold(socket);
      countResponse(socket, response);
      if (waitMs > 0) {
        const problem = problems.tooManyRequests(Math.ceil(waitMs / 1000));
        const cors = corsHeaders(headers.origin, corsAllowedOrigins);
        answerProblem({ request, response }, problem, { ...cors, connection: 'close' });
      } else {
        const paceMs = pace.take(client);
        const delayMs = paceMs > 0 && served.hasOthers(client) ? paceMs : 0;
        served.add(client, response);
        if (delayMs === 0) return serve();
        const timer = setTimeout(serve, delayMs);
        response.once('close', () => clearTimeout(timer));
      }
    },
    admitConnection(socket) {
      const client = clientOf(socket.remoteAddress);
      const connection = connections.tryAcquire(client);
      if (!connection) {
        socket.destroy();
        return false;
      }
      socket.once('close', () => connection.release());
      if (!isIgnored(ofClients.waitMs(client)) && !isIgnored(ofNetworks.waitMs(networkOf(client) ?? ''))) return true;
      socket.on('error', () => undefined);
      hold(socket);
      return false;
    },
  };
}

/** Node resumes a connection when it has parsed the end of the request that it has just emitted. */
const pauseSoon = (socket: Socket, isWanted: () => boolean): void =>
  process.nextTick(() => {
    if (isWanted()) socket.pause();
  });

/** The clients that are being served, or were within the last second. */
function createServedClients(now: () => number) {
  /** Open responses of each. */
  const open = new Map<string, number>();
  /** When the last response to each was closed, oldest first. */
  const closedAt = new Map<string, number>();

  const forgetOld = () => {
    const oldest = now() - OTHERS_MS;
    for (const [client, at] of closedAt) {
      if (at > oldest) return;
      closedAt.delete(client);
    }
  };
  const onClose = (client: string) => {
    const left = (open.get(client) ?? 0) - 1;
    if (left > 0) open.set(client, left);
    else open.delete(client);
    closedAt.delete(client);
    closedAt.set(client, now());
    forgetOld();
  };

  return {
    hasOthers(client: string): boolean {
      forgetOld();
      return [open, closedAt].some((clients) => clients.size > Number(clients.has(client)));
    },
    add(client: string, response: ServerResponse): void {
      open.set(client, (open.get(client) ?? 0) + 1);
      response.once('close', () => onClose(client));
    },
  };
}
