import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { UpstreamError } from '../../errors/index.ts';
import { describeError, type Span, type SpanOptions, startSpan } from '../../log/index.ts';
import type { GuardedRequest, GuardedResponse } from '../egress.ts';
import { type Destination, type Dialer, readBufferShareBytes } from '../guard/index.ts';
import { DIRECT, isSocks, openPoolTunnel, type ProxyPool } from '../proxy/index.ts';
import { headersForHop, httpUrl, redirectOf, redirectTarget } from './hops.ts';
import { discardResponse, dispatch, type RawResponse, toUpstreamError } from './response-body.ts';
import { coalesceTlsRecords } from './tls-record-coalescer.ts';

/** Options of `createGuardedClient`. */
export interface GuardedClientOptions {
  readonly dialer: Dialer;
  readonly proxyPool: ProxyPool;
  /** For upstreams and https proxies. @default the certificates that Node trusts */
  readonly secureContext?: SecureContext | undefined;
  /** For the TLS handshake and the SOCKS handshake, and for a proxy to open a tunnel. @default 10_000 */
  readonly connectTimeoutMs?: number;
}

/** Sends requests through the guard. */
export interface GuardedClient {
  /** @throws EgressRefused, UpstreamError; the signal's reason when it was aborted */
  request(url: string, options?: GuardedRequest): Promise<GuardedResponse>;
  close(): Promise<void>;
}

/** Creates an HTTP client whose connections are opened by the dialer, or by an outgoing proxy after the dialer's check. */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { dialer, proxyPool } = options;
  const direct = socketDispatcher(dialer.connect, options);
  /** By source address, of which there is a bounded number. */
  const bound = new Map<string, Dispatcher>();
  const proxied = new Map<URL, Dispatcher>(proxyPool.proxies.map((proxy) => [proxy, proxyDispatcher(proxy, options)]));

  const dispatcherFrom = (sourceAddress: string | undefined): Dispatcher => {
    if (sourceAddress === undefined) return direct;
    const known = bound.get(sourceAddress);
    if (known) return known;
    const dispatcher = socketDispatcher((destination) => dialer.connect(destination, sourceAddress), options);
    bound.set(sourceAddress, dispatcher);
    return dispatcher;
  };

  const send = async (url: URL, headers: Record<string, string>, request: GuardedRequest): Promise<RawResponse> => {
    const identity = request.identity ?? DIRECT;
    const proxy = proxyPool.resolve(identity);
    // The proxy resolves the name itself, in its own network. This lookup only checks that the name is public.
    if (proxy) await dialer.resolve(destinationOf(url));
    const stallTimeoutMs = request.stallTimeoutMs ?? 15_000;
    const response = dispatch(
      (proxy && proxied.get(proxy)) ?? dispatcherFrom(proxyPool.sourceAddress(identity)),
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method ?? 'GET',
        headers,
        headersTimeout: stallTimeoutMs,
        bodyTimeout: stallTimeoutMs,
      },
      request.signal,
    );
    return proxy && !isSocks(proxy) ? reportOutcome(response, proxy) : response;
  };

  const reportOutcome = async (response: Promise<RawResponse>, proxy: URL): Promise<RawResponse> => {
    try {
      const head = await response;
      proxyPool.reportSuccess(proxy);
      return head;
    } catch (error) {
      if (isProxyAuthFailure(error)) proxyPool.reportFailure(proxy);
      throw error;
    }
  };

  const follow = async (start: URL, request: GuardedRequest): Promise<GuardedResponse> => {
    let url = start;
    for (let hops = 0; ; hops++) {
      const response = await send(url, headersForHop(start, url, request), request);
      const location = redirectOf(response);
      if (location === undefined) return { ...response, url: url.href };
      try {
        if (hops >= (request.maxRedirects ?? 10)) throw new UpstreamError('Too many redirects');
        url = redirectTarget(url, location);
      } finally {
        discardResponse(response);
      }
    }
  };

  return {
    request: async (text, request = {}) => {
      const span = startSpan(request.method ?? 'GET', () => describeRequest(text, request));
      let response: GuardedResponse | undefined;
      try {
        response = await follow(httpUrl(text), request);
        endWithBody(span, response);
        return response;
      } catch (error) {
        response?.body.destroy();
        span.fail(error);
        span.end();
        request.signal?.throwIfAborted();
        throw toUpstreamError(error);
      }
    },
    close: async () => {
      await Promise.all([direct, ...bound.values(), ...proxied.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** The span of a request, by the semantic conventions for HTTP. The URL is without userinfo, query and fragment. */
function describeRequest(text: string, { method = 'GET' }: GuardedRequest): SpanOptions {
  const url = URL.parse(text);
  const destination = url ? destinationOf(url) : undefined;
  return {
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.full': describeError(text),
      'server.address': destination?.hostname,
      'server.port': destination?.port,
    },
  };
}

/** Ends the span of a request when its body is closed, which may have happened already. */
function endWithBody(span: Span, { status, body }: GuardedResponse): void {
  span.set({ 'http.response.status_code': status });
  const end = () => {
    if (body.errored) span.fail(body.errored);
    span.end();
  };
  if (body.closed) end();
  else body.once('close', end);
}

/** Host and port of a URL, in the form that the guard checks. */
export const destinationOf = (url: URL): Destination => ({
  hostname: url.hostname,
  port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
});

/** A dispatcher over sockets that `open` connects to the destination, directly or through a tunnel. */
function socketDispatcher(
  open: (destination: Destination) => Promise<Socket>,
  { secureContext, connectTimeoutMs = 10_000 }: GuardedClientOptions,
): Dispatcher {
  const secure = buildConnector({ allowH2: false, timeout: connectTimeoutMs, secureContext });
  const connect: buildConnector.connector = (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    open({ hostname: target.hostname, port }).then(
      (socket) => {
        // It may have failed since; undici would wait for its 'close', which has been emitted.
        if (socket.destroyed) return callback(socket.errored ?? new UpstreamError('Connection lost'), null);
        if (target.protocol !== 'https:') return callback(null, socket);
        secure({ ...target, httpSocket: socket }, (...result) => {
          if (result[1]) coalesceTlsRecords(result[1], readBufferShareBytes);
          callback(...result);
        });
      },
      (error: Error) => callback(error, null),
    );
  };
  return new Agent({ connect, allowH2: false });
}

function proxyDispatcher(proxy: URL, options: GuardedClientOptions): Dispatcher {
  const { secureContext, connectTimeoutMs = 10_000 } = options;
  if (isSocks(proxy))
    return socketDispatcher(
      (destination) => openPoolTunnel(options.proxyPool, proxy, destination, connectTimeoutMs),
      options,
    );
  const tls = secureContext ? { secureContext } : {};
  const watched = (pool: Pool) => pool.on('connectionError', () => options.proxyPool.reportFailure(proxy));
  return new ProxyAgent({
    uri: proxy.href,
    allowH2: false,
    connectTimeout: connectTimeoutMs,
    requestTls: tls,
    proxyTls: tls,
    // Bounds the CONNECT response too, which ProxyAgent's connectTimeout does not cover.
    clientFactory: (origin, settings) => watched(new Pool(origin, { ...settings, headersTimeout: connectTimeoutMs })),
    // With the origin of the proxy: for requests by absolute URL. With any other: through a tunnel to that origin.
    factory: (origin, settings) => {
      const pool = new Pool(origin, settings);
      return new URL(origin).origin === proxy.origin ? watched(pool) : pool;
    },
  });
}

/** ProxyAgent reports the status of the proxy, for CONNECT and for a request by absolute URL, in the message alone. */
const isProxyAuthFailure = (error: unknown): boolean =>
  error instanceof Error && /^Proxy .*\(407\)/.test(error.message);
