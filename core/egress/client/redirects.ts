import { UpstreamError } from '../../errors/index.ts';
import type { GuardedRequest } from '../egress.ts';
import type { RawResponse } from './response-body.ts';

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
export function redirectTarget(from: URL, { status, headers }: RawResponse): string | undefined {
  if (!REDIRECTS.has(status) || !headers.location) return undefined;
  const next = URL.parse(decodeLocation(headers.location), from.href);
  if (!next) throw new UpstreamError('Redirect to an invalid URL');
  return next.href;
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
