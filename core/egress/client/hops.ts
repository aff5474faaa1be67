import { EgressRefused, UpstreamError } from '../../errors/index.ts';
import type { GuardedRequest, GuardedResponse } from '../egress.ts';

/** Of every hop. Servers reject longer request targets (RFC 9110 §4.1 recommends 8,000 octets). */
const MAX_URL_CHARS = 8_192;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The `Location` of a redirect; undefined for any other response. */
export const redirectOf = ({ status, headers }: Pick<GuardedResponse, 'status' | 'headers'>): string | undefined =>
  (REDIRECTS.has(status) && headers.location) || undefined;

/** @throws EgressRefused, UpstreamError for a URL that no request can be sent to */
export function httpUrl(text: string): URL {
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
