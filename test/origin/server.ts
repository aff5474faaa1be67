import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as Listener, Socket } from 'node:net';
import type { OriginHandler } from './handler.ts';
import { ensureMedia } from './media.ts';
import { send } from './respond.ts';
import { createSites } from './sites/index.ts';

/** A received request and the state of its response. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** `open` until the response is sent (`done`) or the connection closes before (`left`). */
  readonly state: 'open' | 'done' | 'left';
}

export interface OriginOptions {
  /** The media folder. @default the cache of the repository */
  readonly mediaDir?: string;
  /** @default any free port */
  readonly port?: number;
  /** A server that listens already and stays open, whose connections this origin takes until it is closed. */
  readonly listener?: Listener;
  /** Additional handlers by prefix, such as `/faults/`. */
  readonly mounts?: Readonly<Record<string, OriginHandler>>;
}

/** A web server on loopback with every kind of media and fault. */
export interface Origin {
  readonly baseUrl: string;
  /** `host:port`, the format of EGRESS_ALLOW. */
  readonly host: string;
  readonly mediaDir: string;
  /** The absolute URL of a path. */
  url(path: string): string;
  /** The most recent requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** The recorded requests with this path prefix. */
  requestsTo(prefix: string): readonly RecordedRequest[];
  /** Number of open TCP connections. */
  readonly connections: number;
  /** Expires every media URL that the watch site has issued: 403. */
  expireUrls(): void;
  /** Closes all connections and the port. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** Number of recorded requests. */
const MAX_RECORDED_REQUESTS = 5_000;

/** Starts the origin. README.md lists its pages. */
export async function startOrigin(options: OriginOptions = {}): Promise<Origin> {
  const { port = 0, mounts = {} } = options;
  const mediaDir = options.mediaDir ?? (await ensureMedia());
  const { handlers, expireUrls } = createSites();
  const routes = Object.entries({ ...handlers, ...mounts });
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const closing = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? HOST}`);
    const record = {
      method: request.method ?? '',
      path: url.pathname + url.search,
      headers: request.headers,
      state: 'open' as RecordedRequest['state'],
    };
    if (requests.push(record) > MAX_RECORDED_REQUESTS) requests.shift();
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
  const take = (socket: Socket) => void server.emit('connection', socket);
  if (options.listener) options.listener.on('connection', take);
  else
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, HOST, resolve);
    });
  const host = `${HOST}:${((options.listener ?? server).address() as AddressInfo).port}`;

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
        options.listener?.off('connection', take);
        if (options.listener) resolve();
        else server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
