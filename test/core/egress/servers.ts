import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { createEgress, type EgressOptions } from '../../../core/egress/create-egress.ts';
import { certificate } from './certificate.ts';

const ends: (() => unknown)[] = [];

/** Closes the fixtures of a test in reverse order. */
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections accepted so far. */
  readonly taken: () => number;
  /** Resolves once no connection is open. */
  idle(): Promise<void>;
}

async function listen(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  let taken = 0;
  server.on('connection', (socket: Socket) => {
    taken++;
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const idle = async () => {
    await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  };
  return { host: `127.0.0.1:${port}`, port, sockets, taken: () => taken, idle };
}

export const serve = (listener: RequestListener): Promise<Listening> => listen(http.createServer(listener));
export const serveTls = (listener: RequestListener): Promise<Listening> =>
  listen(https.createServer(certificate, listener));
export const serveTcp = (onConnection: (socket: Socket) => void): Promise<Listening> =>
  listen(createServer(onConnection));

/** A loopback port on which nothing listens. */
export async function deadPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** An egress that is closed after the test. `names` is its DNS: other names do not exist. */
export function egressFor(options: Partial<EgressOptions> & { names?: Readonly<Record<string, readonly string[]>> }) {
  const { names = {}, ...rest } = options;
  const egress = createEgress({
    allow: [],
    lookup: async (hostname) => {
      const addresses = names[hostname];
      if (!addresses) throw Object.assign(new Error(`no ${hostname}`), { code: 'ENOTFOUND' });
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    ...rest,
  });
  ends.push(() => egress.close());
  return egress;
}

export interface OutgoingProxy extends Listening {
  readonly url: string;
  /** Request lines, in order. */
  readonly seen: string[];
  /** Headers of the last request, as received. */
  readonly headers: () => http.IncomingHttpHeaders;
}

/** A forward proxy that requires credentials and connects to the ports in `routes`. */
export async function serveProxy(routes: Readonly<Record<string, number>>): Promise<OutgoingProxy> {
  const credentials = `Basic ${Buffer.from('user:pass word').toString('base64')}`;
  const seen: string[] = [];
  let headers: http.IncomingHttpHeaders = {};
  const note = (request: http.IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    headers = request.headers;
    return request.headers['proxy-authorization'] === credentials;
  };
  const server = http.createServer((request, response) => {
    if (!note(request)) return response.writeHead(407).end();
    const url = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...forwarded } = request.headers;
    const target = { host: '127.0.0.1', port: routes[url.host], path: url.pathname, headers: forwarded };
    http
      .get({ ...target, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      })
      .on('error', () => response.destroy());
  });
  server.on('connect', (request, socket) => {
    if (!note(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const upstream = connect(routes[request.url ?? ''] ?? 0, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  const listening = await listen(server);
  return { ...listening, url: `http://user:pass%20word@${listening.host}`, seen, headers: () => headers };
}
