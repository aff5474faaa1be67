import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Lookup } from '../src/dial.ts';
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from '../src/guarded-fetch.ts';
import { certificate } from './certificate.ts';
import { endTogether } from './end-together.ts';

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
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
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

/** The addresses of each name; other names do not exist. */
export type Names = Readonly<Record<string, readonly string[]>>;

export const lookupIn =
  (names: Names): Lookup =>
  async (hostname) => {
    const addresses = names[hostname];
    if (!addresses) throw Object.assign(new Error(`no ${hostname}`), { code: 'ENOTFOUND' });
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };

/** A client that is closed after the test. */
export function clientFor({ names = {}, ...options }: GuardedFetchOptions & { readonly names?: Names }): GuardedFetch {
  const client = createGuardedFetch({ lookup: lookupIn(names), ...options });
  onTestFinished(() => client.close());
  return client;
}

export interface OutgoingProxy extends Listening {
  readonly url: string;
  /** Request lines, in order. */
  readonly seen: string[];
  /** Headers of the last request, as received. */
  readonly headers: () => http.IncomingHttpHeaders;
}

/**
 * A forward proxy that requires credentials and connects to the ports in `routes`.
 * @param scheme by which it is reached
 */
export async function serveProxy(
  routes: Readonly<Record<string, number>>,
  scheme: 'http' | 'https' = 'http',
): Promise<OutgoingProxy> {
  const credentials = `Basic ${Buffer.from('user:pass word').toString('base64')}`;
  const seen: string[] = [];
  let headers: http.IncomingHttpHeaders = {};
  const note = (request: http.IncomingMessage) => {
    seen.push(`${request.method} ${request.url}`);
    headers = request.headers;
    return request.headers['proxy-authorization'] === credentials;
  };
  const forward: RequestListener = (request, response) => {
    if (!note(request)) return void response.writeHead(407).end();
    const url = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...forwarded } = request.headers;
    const target = { host: '127.0.0.1', port: routes[url.host], path: url.pathname + url.search, headers: forwarded };
    const forwarding = http
      .get({ ...target, agent: false }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      })
      .on('error', () => response.destroy());
    response.on('close', () => forwarding.destroy());
  };
  const server = scheme === 'https' ? https.createServer(certificate, forward) : http.createServer(forward);
  server.on('connect', (request, socket) => {
    if (!note(request)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const upstream = connect(routes[request.url ?? ''] ?? 0, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    endTogether(socket, upstream);
  });
  const listening = await listen(server);
  return { ...listening, url: `${scheme}://user:pass%20word@${listening.host}`, seen, headers: () => headers };
}

/** Faults and requirements of a SOCKS5 server. */
export interface SocksOptions {
  /** For RFC 1929. @default none required */
  readonly credentials?: { readonly user: string; readonly password: string };
  /** The reply to each request (RFC 1928 §6); 0 connects. @default 0 */
  readonly reply?: number;
  /** Stops to respond at this step. */
  readonly silentAt?: 'greeting' | 'request';
  /** Sent to the client together with the reply, before the destination sends anything. */
  readonly early?: string;
}

export interface SocksServer extends Listening {
  readonly url: string;
  /** Destinations of requests, in order. */
  readonly seen: string[];
}

/** A SOCKS5 server (RFC 1928, RFC 1929) that connects to the ports in `routes`. */
export async function serveSocks(
  routes: Readonly<Record<string, number>>,
  { credentials, reply = 0, silentAt, early = '' }: SocksOptions = {},
): Promise<SocksServer> {
  const seen: string[] = [];
  const negotiate = async (socket: Socket): Promise<void> => {
    const [, methods = 0] = await take(socket, 2);
    const offered = await take(socket, methods);
    if (silentAt === 'greeting') return;
    const method = credentials ? 2 : 0;
    if (!offered.includes(method)) return void socket.end(Buffer.from([5, 255]));
    socket.write(Buffer.from([5, method]));
    if (credentials) {
      await take(socket, 1);
      const user = await takeText(socket);
      const isRight = (await takeText(socket)) === credentials.password && user === credentials.user;
      if (!isRight) return void socket.end(Buffer.from([1, 1]));
      socket.write(Buffer.from([1, 0]));
    }
    const [, , , type] = await take(socket, 4);
    const host = type === 3 ? await takeText(socket) : [...(await take(socket, type === 1 ? 4 : 16))].join('.');
    const destination = `${host}:${(await take(socket, 2)).readUInt16BE()}`;
    seen.push(destination);
    if (silentAt === 'request') return;
    const head = Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
    if (reply !== 0) return void socket.end(head);
    const upstream = connect(routes[destination] ?? 0, '127.0.0.1', () => {
      socket.write(Buffer.concat([head, Buffer.from(early)]));
      socket.pipe(upstream).pipe(socket);
    });
    endTogether(socket, upstream);
  };
  const listening = await serveTcp((socket) => void negotiate(socket).catch(() => socket.destroy()));
  const login = credentials && `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`;
  return { ...listening, url: `socks5://${login ?? ''}${listening.host}`, seen };
}

/** Reads a number of bytes. */
async function take(socket: Socket, bytes: number): Promise<Buffer> {
  for (;;) {
    const chunk: Buffer | null = socket.read(bytes);
    if (chunk?.length === bytes) return chunk;
    if (chunk || socket.readableEnded) throw new Error('The client closed the connection');
    await once(socket, 'readable');
  }
}

/** Reads text that its length precedes, as one octet. */
async function takeText(socket: Socket): Promise<string> {
  const [length = 0] = await take(socket, 1);
  return (await take(socket, length)).toString();
}

/** Public and private names, by their addresses. */
export const NAMES = { 'origin.test': ['93.184.216.34'], 'inside.test': ['10.0.0.1'] };

/** The account at an outgoing proxy, with characters that URLs escape. */
export const ACCOUNT = { user: 'alice', password: 'pass: w%rd' };
