import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { endTogether } from '../../packages/guarded-fetch/test/end-together.ts';
import { ensureMedia } from '../origin/media.ts';
import { send } from '../origin/respond.ts';
import { listen } from '../support/listen.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { makeCertificates } from './certificates.ts';
import type { Site, SiteExchange, SiteRequest } from './site.ts';

/** Sites that run, and the ways to them. */
export type RunningSites = Awaited<ReturnType<typeof startSites>>;

/** Starts sites on one loopback port, with TLS by an authority of their own. */
export async function startSites(sites: readonly Site[]) {
  const dir = await temporaryFolder();
  const { caFile, key, cert } = await makeCertificates(
    dir,
    sites.flatMap(({ hosts }) => hosts),
  );
  const mediaDir = await ensureMedia();
  /** In the order received. */
  const requests: SiteRequest[] = [];
  const closing = new AbortController();

  const server = createServer({ key, cert, ALPNProtocols: ['http/1.1'] }, async (request, response) => {
    const host = request.headers.host?.replace(/:\d+$/, '') ?? '';
    const url = new URL(request.url ?? '/', `https://${host}`);
    const client = request.socket.remoteAddress ?? '';
    const { method = 'GET', headers } = request;
    const leaving = new AbortController();
    response.once('close', () => leaving.abort());
    const signal = AbortSignal.any([leaving.signal, closing.signal]);
    try {
      const body = await text(request);
      const received: SiteRequest = { client, method, url, headers, body, status: 0 };
      requests.push(received);
      response.once('close', () => {
        received.status = response.statusCode;
      });
      const path = url.pathname;
      const exchange: SiteExchange = { request, response, url, path, mediaDir, signal, host, client, body };
      const site = sites.find(({ hosts }) => hosts.some((name) => matches(name, host)));
      if (site) await site.handle(exchange);
      else send(exchange, 'text/plain', `No site has the name ${host}`, 421);
    } catch (error) {
      if (signal.aborted || response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    }
  });
  const running = await listen(server);
  const { port } = running;
  const listeners = [running];

  const startProxy = async (client: string): Promise<string> => {
    const proxy = createProxy((_, response) => void response.writeHead(501).end());
    proxy.on('connect', (_, socket: Socket) => {
      const upstream = connect({ port, host: '127.0.0.1', localAddress: client }, () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n');
        socket.pipe(upstream).pipe(socket);
      });
      endTogether(socket, upstream);
    });
    const listening = await listen(proxy);
    listeners.push(listening);
    return listening.url;
  };
  const proxies = new Map<string, Promise<string>>();

  return {
    /** PEM file of the authority that their certificates are from. */
    caFile,
    /**
     * A proxy that connects to the sites, whatever their names resolve to.
     * @param client the loopback address that the sites see: 127.0.0.1, 127.0.0.2 and so on
     */
    proxyFor: (client: string) => {
      const proxy = proxies.get(client) ?? startProxy(client);
      proxies.set(client, proxy);
      return proxy;
    },
    requests,
    close: async () => {
      closing.abort();
      await Promise.all(listeners.map(({ close }) => close()));
    },
  };
}

const matches = (name: string, host: string): boolean =>
  name === host || (name.startsWith('*.') && host.replace(/^[^.]+/, '*') === name);
