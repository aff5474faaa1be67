import type { Dispatcher } from 'undici';
import type { Destination } from './address-guard.ts';
import { type DispatcherOptions, isProxyAuthFailure, proxyDispatcher, socketDispatcher } from './dispatchers.ts';
import { EgressRefused, UpstreamError } from './errors.ts';
import { DIRECT, DIRECT_ROUTES, isSocks } from './outgoing-routes.ts';
import {
  decodeResponse,
  discardResponse,
  dispatch,
  type GuardedResponse,
  type RawResponse,
  toUpstreamError,
} from './response-body.ts';

/** Options of one request. */
export interface GuardedRequest {
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for every hop, so that a redirect to another host carries no cookie and no credential. */
  readonly headersFor?: (url: URL) => Readonly<Record<string, string>>;
  /** Names a route of `OutgoingRoutes`. @default 'direct' */
  readonly identity?: string;
  /** 0: a redirect is the response. @default 10 */
  readonly maxRedirects?: number;
  /** Maximum time without a byte of the response, in the head or in the body; 0: unlimited. @default 15_000 */
  readonly stallTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /**
   * Decodes a body that the source has compressed, although `identity` was asked for. For what is read from its start and within
   * a bound: offsets count the decoded bytes. @default false
   */
  readonly isDecoded?: boolean;
}

/** Sends requests through the guard. */
export interface GuardedClient {
  /**
   * Sends a request and follows redirects, each hop guarded. Resolves with the head; the body streams.
   * @throws EgressRefused, UpstreamError; the signal's reason when it is aborted
   */
  request(url: string, options?: GuardedRequest): Promise<GuardedResponse>;
  close(): Promise<void>;
}

/** Creates an HTTP client whose connections are opened by the dialer, or by an outgoing proxy after the dialer's check. */
export function createGuardedClient(options: DispatcherOptions): GuardedClient {
  const { dialer, routes = DIRECT_ROUTES } = options;
  const direct = socketDispatcher(dialer.connect, options);
  /** The dispatchers by source address, of which there is a bounded number. */
  const bound = new Map<string, Dispatcher>();
  const proxied = new Map<URL, Dispatcher>();

  const leaving = new Set<Dispatcher>();

  const dispatcherFrom = (sourceAddress: string | undefined): Dispatcher => {
    if (sourceAddress === undefined) return direct;
    const known = bound.get(sourceAddress);
    if (known) return known;
    const dispatcher = socketDispatcher((destination) => dialer.connect(destination, sourceAddress), options);
    bound.set(sourceAddress, dispatcher);
    return dispatcher;
  };

  const dispatcherThrough = (proxy: URL): Dispatcher => {
    const known = proxied.get(proxy);
    if (known) return known;
    // Those of a former pool end after their requests.
    for (const [former, dispatcher] of proxied) {
      if (routes.proxies.includes(former)) continue;
      proxied.delete(former);
      leaving.add(dispatcher);
      void dispatcher.close().finally(() => leaving.delete(dispatcher));
    }
    const dispatcher = proxyDispatcher(proxy, options);
    proxied.set(proxy, dispatcher);
    return dispatcher;
  };

  const send = async (url: URL, headers: Record<string, string>, request: GuardedRequest): Promise<RawResponse> => {
    const identity = request.identity ?? DIRECT;
    const proxy = routes.resolve(identity);
    // The proxy resolves the name itself, in its own network. This lookup only checks that the name is public.
    if (proxy) await dialer.resolve(destinationOf(url));
    const stallTimeoutMs = request.stallTimeoutMs ?? 15_000;
    const response = dispatch(
      proxy ? dispatcherThrough(proxy) : dispatcherFrom(routes.sourceAddress(identity)),
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'GET',
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
      routes.reportSuccess(proxy);
      return head;
    } catch (error) {
      if (isProxyAuthFailure(error)) routes.reportFailure(proxy);
      throw error;
    }
  };

  const follow = async (start: URL, request: GuardedRequest): Promise<GuardedResponse> => {
    let url = start;
    for (let hops = 0; ; hops++) {
      const response = await send(url, headersForHop(start, url, request), request);
      const location = redirectOf(response);
      if (location === undefined || request.maxRedirects === 0) return { ...response, url: url.href };
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
      let response: GuardedResponse | undefined;
      try {
        response = await follow(httpUrl(text), request);
        return request.isDecoded ? decodeResponse(response) : response;
      } catch (error) {
        response?.body.destroy();
        request.signal?.throwIfAborted();
        throw toUpstreamError(error);
      }
    },
    close: async () => {
      const all = [direct, ...bound.values(), ...proxied.values(), ...leaving];
      await Promise.all(all.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** Host and port of a URL, in the form that the guard checks. */
export const destinationOf = (url: URL): Destination => ({
  hostname: url.hostname,
  port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
});

/** Servers reject longer request targets (RFC 9110 §4.1 recommends 8,000 octets). */
const MAX_URL_CHARS = 8_192;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The `Location` of a redirect; undefined for any other response. */
const redirectOf = ({ status, headers }: Pick<GuardedResponse, 'status' | 'headers'>): string | undefined =>
  (REDIRECTS.has(status) && headers.location) || undefined;

/** @throws EgressRefused, UpstreamError for a URL that no request can be sent to */
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

/**
 * Where a redirect leads to.
 * @param location as received, of any form
 * @throws UpstreamError, EgressRefused for a target that no request can be sent to
 */
export function redirectTarget(from: URL, location: string): URL {
  const next = URL.parse(decodeLocation(location), from.href);
  if (!next) throw new UpstreamError('Redirect to an invalid URL');
  return httpUrl(next.href);
}

/** The headers of one hop: the caller's, without credentials once the host has changed, and those of `headersFor`. */
export function headersForHop(
  start: URL,
  hop: URL,
  { headers = {}, headersFor }: GuardedRequest,
): Record<string, string> {
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
