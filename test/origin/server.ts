import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { OriginHandler } from './handler.ts';
import { ensureMedia } from './media.ts';
import { send } from './respond.ts';
import { createSites } from './sites/index.ts';

/** A request as it arrived, and how far its answer got. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** `open` while it is answered, `done` when all of it was sent, `left` when the connection broke before. */
  readonly state: 'open' | 'done' | 'left';
}

export interface OriginOptions {
  /** Where the media is. @default made, or found, in the cache of the repository */
  readonly mediaDir?: string;
  /** @default a free one */
  readonly port?: number;
  /** A second origin on another loopback address is another host to a client. @default '127.0.0.1' */
  readonly address?: string;
  /** Further handlers by prefix, such as `/faults/`. */
  readonly mounts?: Readonly<Record<string, OriginHandler>>;
}

/** A web server with every kind of media and every kind of trouble, on loopback. */
export interface Origin {
  readonly baseUrl: string;
  /** `host:port`, as EGRESS_ALLOW wants it. */
  readonly host: string;
  readonly mediaDir: string;
  /** The absolute URL of a path. */
  url(path: string): string;
  /** The newest requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** Requests whose path starts so. */
  requestsTo(prefix: string): readonly RecordedRequest[];
  /** TCP connections open now. */
  readonly connections: number;
  /** From now on every media URL that the watch site gave out answers 403. */
  expireUrls(): void;
  /** Breaks what is open and frees the port. */
  close(): Promise<void>;
}

/** Requests remembered. */
const REMEMBERED = 5_000;

/** Starts the origin. Its pages are listed in the README beside this file. */
export async function startOrigin(options: OriginOptions = {}): Promise<Origin> {
  const { address = '127.0.0.1', port = 0, mounts = {} } = options;
  const mediaDir = options.mediaDir ?? (await ensureMedia());
  const { handlers, expireUrls } = createSites();
  const routes = Object.entries({ ...handlers, ...mounts });
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const closing = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? address}`);
    const record = {
      method: request.method ?? '',
      path: url.pathname + url.search,
      headers: request.headers,
      state: 'open' as RecordedRequest['state'],
    };
    if (requests.push(record) > REMEMBERED) requests.shift();
    const leaving = new AbortController();
    response.once('close', () => {
      record.state = response.writableFinished ? 'done' : 'left';
      leaving.abort();
    });
    const [prefix = '', handler] = routes.find(([start]) => url.pathname.startsWith(start)) ?? [];
    const signal = AbortSignal.any([leaving.signal, closing.signal]);
    const exchange = { request, response, url, path: '', mediaDir, signal };
    try {
      exchange.path = decodeURIComponent(url.pathname.slice(prefix.length));
      await (handler ?? ((e) => send(e, 'text/plain', 'Nothing here', 404)))(exchange);
    } catch (error) {
      if (signal.aborted || response.headersSent) response.destroy();
      else send(exchange, 'text/plain', String(error), 500);
    }
  }

  const server = createServer((request, response) => void answer(request, response));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  const host = `${address}:${(server.address() as AddressInfo).port}`;

  return {
    baseUrl: `http://${host}`,
    host,
    mediaDir,
    url: (path) => new URL(path, `http://${host}`).href,
    requests,
    requestsTo: (prefix) => requests.filter((request) => request.path.startsWith(prefix)),
    get connections() {
      return sockets.size;
    },
    expireUrls,
    close: () =>
      new Promise((resolve) => {
        closing.abort();
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
