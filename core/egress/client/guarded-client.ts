import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { EgressRefused, UpstreamError } from '../../errors/index.ts';
import { describeError, type SpanOptions, startSpan } from '../../log/index.ts';
import type { GuardedRequest, GuardedResponse } from '../egress.ts';
import { type Destination, type Dialer, readBufferShareBytes } from '../guard/index.ts';
import { DIRECT, isSocks, openPoolTunnel, type ProxyPool } from '../proxy/index.ts';
import { dispatch, type RawResponse, toUpstreamError } from './response-body.ts';
import { coalesceTlsRecords } from './tls-record-coalescer.ts';

/** Options of `createGuardedClient`. */
export interface GuardedClientOptions {
  readonly dialer: Dialer;
  readonly proxyPool: ProxyPool;
  /** Certificates (PEM) to trust in addition to the system's, for upstreams and https proxies. */
  readonly ca?: string;
  /** For the TLS handshake and the SOCKS handshake, and for a proxy to open a tunnel. @default 10_000 */
  readonly connectTimeoutMs?: number;
}

/** Sends requests through the guard. */
export interface GuardedClient {
  /** @throws EgressRefused, UpstreamError; the signal's reason when it was aborted */
  request(url: string, options?: GuardedRequest): Promise<GuardedResponse>;
  close(): Promise<void>;
}

/** Of every hop. Servers reject longer request targets (RFC 9110 §4.1 recommends 8,000 octets). */
const MAX_URL_CHARS = 8_192;
/** Redirect bodies up to this size are drained, so that the connection can serve the next hop. */
const MAX_DRAINED_BYTES = 16 * 1024;

/** Creates an HTTP client whose connections are opened by the dialer, or by an outgoing proxy after the dialer's check. */
export function createGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { dialer, proxyPool } = options;
  const direct = socketDispatcher(dialer.connect, options);
  const proxied = new Map<URL, Dispatcher>(proxyPool.proxies.map((proxy) => [proxy, proxyDispatcher(proxy, options)]));

  const send = async (url: URL, headers: Record<string, string>, request: GuardedRequest): Promise<RawResponse> => {
    const proxy = proxyPool.resolve(request.identity ?? DIRECT);
    // The proxy resolves the name itself, in its own network. This lookup only checks that the name is public.
    if (proxy) await dialer.resolve(destinationOf(url));
    const stallTimeoutMs = request.stallTimeoutMs ?? 15_000;
    const response = dispatch(
      (proxy && proxied.get(proxy)) ?? direct,
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
      const next = redirectTarget(url, response);
      if (!next) return { ...response, url: url.href };
      discard(response);
      if (hops >= (request.maxRedirects ?? 10)) throw new UpstreamError('Too many redirects');
      url = httpUrl(next);
    }
  };

  return {
    request: async (text, request = {}) => {
      const span = startSpan(request.method ?? 'GET', () => describeRequest(text, request));
      try {
        const response = await follow(httpUrl(text), request);
        span.set({ 'http.response.status_code': response.status });
        const { body } = response;
        body.once('close', () => {
          if (body.errored) span.fail(body.errored);
          span.end();
        });
        return response;
      } catch (error) {
        span.fail(error);
        span.end();
        request.signal?.throwIfAborted();
        throw toUpstreamError(error);
      }
    },
    close: async () => {
      await Promise.all([direct, ...proxied.values()].map((dispatcher) => dispatcher.destroy()));
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

/** Host and port of a URL, in the form that the guard checks. */
export const destinationOf = (url: URL): Destination => ({
  hostname: url.hostname,
  port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
});

function httpUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new EgressRefused('Unsupported URL scheme: only http and https are allowed');
  if (url.href.length > MAX_URL_CHARS) throw new UpstreamError('The URL is too long');
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

/** A dispatcher over sockets that `open` connects to the destination, directly or through a tunnel. */
function socketDispatcher(
  open: (destination: Destination) => Promise<Socket>,
  { ca, connectTimeoutMs = 10_000 }: GuardedClientOptions,
): Dispatcher {
  const secure = buildConnector({ allowH2: false, timeout: connectTimeoutMs, ca });
  const connect: buildConnector.connector = (target, callback) => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80);
    open({ hostname: target.hostname, port }).then(
      (socket) => {
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
  const { ca, connectTimeoutMs = 10_000 } = options;
  if (isSocks(proxy))
    return socketDispatcher(
      (destination) => openPoolTunnel(options.proxyPool, proxy, destination, connectTimeoutMs),
      options,
    );
  const tls = ca ? { ca } : {};
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

function discard({ headers, body }: RawResponse): void {
  body.on('error', ignore);
  const size = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (size > MAX_DRAINED_BYTES) body.destroy();
  else body.resume();
}

/** Errors of a hop that has been followed no longer matter. */
const ignore = () => undefined;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Sent only to the host that the caller named, never to the target of a redirect to another host. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'cookie2']);

/** Connection-specific fields (RFC 9110 §7.6.1), which the client sets itself. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The target of a redirect; undefined for any other response. @throws UpstreamError for an invalid Location */
function redirectTarget(from: URL, { status, headers }: RawResponse): string | undefined {
  if (!REDIRECTS.has(status) || !headers.location) return undefined;
  const next = URL.parse(decodeLocation(headers.location), from.href);
  if (!next) throw new UpstreamError('Redirect to an invalid URL');
  return next.href;
}

/** The headers of one hop: the caller's, without credentials once the host has changed, and those of `headersFor`. */
function headersForHop(start: URL, hop: URL, { headers = {}, headersFor }: GuardedRequest): Record<string, string> {
  const carried = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = isSameHost(start, hop) ? carried : carried.filter(([name]) => !CREDENTIALS.has(name));
  const added = Object.entries(headersFor?.(hop) ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all = [...sent, ...added].filter(([name]) => !CONNECTION_HEADERS.has(name));
  return { 'accept-encoding': 'identity', ...Object.fromEntries(all) };
}

/** The same origin, or the same host after an upgrade from http to https on their default ports. */
const isSameHost = (start: URL, hop: URL): boolean =>
  start.origin === hop.origin ||
  (start.hostname === hop.hostname &&
    start.protocol === 'http:' &&
    hop.protocol === 'https:' &&
    !start.port &&
    !hop.port);

/** undici decodes header values as latin1; servers that do not percent-encode a Location send UTF-8. */
function decodeLocation(location: string): string {
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? location : text;
}
