import { UpstreamError } from '../../errors/index.ts';
import type { GuardedRequest } from '../egress.ts';
import type { RawResponse } from './response-body.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Sent only to the party that the caller named: never along to where a redirect leads. */
const CREDENTIALS = new Set(['authorization', 'cookie', 'cookie2']);

/** Say how a connection is used: the client's own business, and not the caller's (RFC 9110 §7.6.1). */
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

/** Where a redirect leads; undefined when the answer is not one. @throws UpstreamError when it leads nowhere readable */
export function redirectTarget(from: URL, { status, headers }: RawResponse): string | undefined {
  if (!REDIRECTS.has(status) || !headers.location) return undefined;
  const next = URL.parse(decodedAsSent(headers.location), from.href);
  if (!next) throw new UpstreamError('The upstream redirects to something that is not a URL');
  return next.href;
}

/** What one hop is sent: the caller's headers, without credentials once another party is asked, and `headersFor` it. */
export function headersForHop(
  start: URL,
  hop: URL,
  { headers = {}, headersFor }: GuardedRequest,
): Record<string, string> {
  const carried = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const sent = isSameParty(start, hop) ? carried : carried.filter(([name]) => !CREDENTIALS.has(name));
  const added = Object.entries(headersFor?.(hop) ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const all = [...sent, ...added].filter(([name]) => !CONNECTION_HEADERS.has(name));
  return { 'accept-encoding': 'identity', ...Object.fromEntries(all) };
}

/** The same origin, or the same host after an upgrade from http to https on their default ports. */
const isSameParty = (start: URL, hop: URL): boolean =>
  start.origin === hop.origin ||
  (start.hostname === hop.hostname &&
    start.protocol === 'http:' &&
    hop.protocol === 'https:' &&
    !start.port &&
    !hop.port);

/** Header values arrive as latin1; servers that do not escape a Location mean UTF-8. */
function decodedAsSent(location: string): string {
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? location : text;
}
