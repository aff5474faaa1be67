import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problems } from '../../core/api/index.ts';
import { createRateLimit } from '../../core/concurrency/index.ts';
import type { Settings } from '../../core/config/index.ts';
import { clientOf, corsHeaders, networkOf } from '../../core/http/index.ts';
import { answerProblem, clientOfRequest } from './exchange.ts';

export interface RequestLimitOptions
  extends Pick<Settings, 'maxRequestsPerClient' | 'trustedProxies' | 'corsAllowedOrigins'> {
  /** Milliseconds on a monotonic clock. */
  readonly now?: () => number;
}

/** Limits the requests of each client before they cost anything: a flood of cheap ones delays all others too. */
export interface RequestLimit {
  /**
   * Calls `serve` for a request: later, when its client sends many while others are served. Answers one beyond the limit with
   * 429 instead, or closes its connection.
   */
  admit(request: IncomingMessage, response: ServerResponse, serve: () => void): void;
  /**
   * Takes a new connection of a client that continues to send requests beyond the limit, and closes it later: one that is
   * closed at once is opened again at once.
   * @returns false when it is taken, and must not be read
   */
  admitConnection(socket: Socket): boolean;
}

/** Seconds of its limit that a client may use at once. */
const BURST_SECONDS = 10;
/** A client that continues is refused for so long after it has stopped. */
const MAX_DEBT_SECONDS = 5;
/** With a longer wait a client has ignored its refusals: further ones are not worth their cost. */
const IGNORED_MS = 1_000;
/** A /48 of IPv6 has 256 clients, and may send as much as four. */
const CLIENTS_PER_NETWORK = 4;
const HOLD_MS = 1_000;
/** Bounds the held connections of all clients: each is a file descriptor and some kilobytes. */
const MAX_HELD = 1_000;

/** Beyond this, requests of one client wait while others are served, so that a client with few requests never notices. */
const PACE = { perSecond: 50, burst: 200, maxDebt: 50 };
/** Others are served while a response for them is open, and for so long afterwards. */
const OTHERS_MS = 1_000;

const UNLIMITED: RequestLimit = { admit: (_request, _response, serve) => serve(), admitConnection: () => true };

export function createRequestLimit(options: RequestLimitOptions): RequestLimit {
  const { maxRequestsPerClient, trustedProxies, corsAllowedOrigins, now = () => performance.now() } = options;
  if (maxRequestsPerClient === 0) return UNLIMITED;
  const createLimit = (perSecond: number) =>
    createRateLimit({ perSecond, burst: perSecond * BURST_SECONDS, maxDebt: perSecond * MAX_DEBT_SECONDS, now });
  const ofClients = createLimit(maxRequestsPerClient);
  const ofNetworks = createLimit(maxRequestsPerClient * CLIENTS_PER_NETWORK);
  const pace = createRateLimit({ ...PACE, now });
  const served = createServedClients(now);
  let held = 0;

  const take = (client: string): number => {
    const network = networkOf(client);
    return Math.max(ofClients.take(client), network === undefined ? 0 : ofNetworks.take(network));
  };
  const isIgnored = (waitMs: number) => waitMs > IGNORED_MS && trustedProxies === 0;

  return {
    admit(request, response, serve) {
      const { socket, headers } = request;
      // Node has parsed all requests that it had read of a connection when it is closed below.
      if (socket.destroyed) return;
      const client = clientOfRequest(request, trustedProxies);
      const waitMs = take(client);
      if (isIgnored(waitMs)) socket.destroy();
      else if (waitMs > 0) {
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
      if (!isIgnored(ofClients.waitMs(client)) && !isIgnored(ofNetworks.waitMs(networkOf(client) ?? ''))) return true;
      socket.on('error', () => undefined);
      if (held >= MAX_HELD) {
        socket.destroy();
        return false;
      }
      held += 1;
      const timer = setTimeout(() => socket.destroy(), HOLD_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        held -= 1;
      });
      return false;
    },
  };
}

/** The clients that are served, and were of late. */
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
