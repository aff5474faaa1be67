import type { ByteRange } from '@reelay/seekable-media/http';

/** A cookie of a source (RFC 6265 §5.3). */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Host without a leading dot; `hostOnly` excludes its subdomains. */
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
}

/** Headers and cookies that a source requires. */
export interface RequestIdentity {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly Cookie[];
}

/** Headers that browsers send to every host. Any other may be a credential. */
const SAFE_HEADERS = new Set(['user-agent', 'accept', 'accept-language', 'referer', 'origin']);

/**
 * The request headers for each hop of a request, for `GuardedRequest.headersFor`: all headers go to the origin of `url`, safe
 * ones to any host, and each cookie where it matches.
 */
export function requestHeaders({ url, headers, cookies }: RequestIdentity) {
  const origin = new URL(url).origin;
  return (target: URL): Record<string, string> => {
    const cookie = cookieHeader(cookies, target);
    const sent = Object.entries(headers).filter(
      ([name]) => target.origin === origin || SAFE_HEADERS.has(name.toLowerCase()),
    );
    return cookie ? { ...Object.fromEntries(sent), cookie } : Object.fromEntries(sent);
  };
}

/** The Cookie header for a URL (RFC 6265 §5.4); undefined if no cookie matches. */
export function cookieHeader(cookies: readonly Cookie[], url: URL): string | undefined {
  const pairs = cookies.filter((cookie) => matches(cookie, url)).map(({ name, value }) => `${name}=${value}`);
  return pairs.length > 0 ? pairs.join('; ') : undefined;
}

function matches({ domain, hostOnly, path, secure }: Cookie, { hostname, pathname, protocol }: URL): boolean {
  if (secure && protocol !== 'https:') return false;
  // An IP address has no subdomains (RFC 6265 §5.1.3).
  const isSubdomain = !hostOnly && !/^[\d.]+$|:/.test(hostname) && hostname.endsWith(`.${domain}`);
  return (
    (hostname === domain || isSubdomain) &&
    (pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
  );
}

/** The groups of a pattern in a header; none when it is absent or does not match. */
const groupsOf = (pattern: RegExp, header: string | undefined): readonly (string | undefined)[] =>
  header?.match(pattern)?.slice(1) ?? [];

/** A Range header that selects one range: `bytes=0-99`. */
export const formatRange = ({ first, last }: ByteRange): string => `bytes=${first}-${last}`;

/** A parsed Content-Range. `total` is the size of the whole representation in bytes; undefined for `*`. */
export interface ContentRange extends ByteRange {
  readonly total: number | undefined;
}

const SATISFIED = /^bytes[ \t]+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;
const UNSATISFIED = /^bytes[ \t]+\*\/(\d{1,15})$/i;

/** Parses the Content-Range of a 206 (RFC 9110 §14.4); undefined if it is absent, malformed or contradicts itself. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const [from, to, all] = groupsOf(SATISFIED, header?.trim());
  if (!all) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const total = all === '*' ? undefined : Number(all);
  return last < first || last >= (total ?? Number.POSITIVE_INFINITY) ? undefined : { first, last, total };
}

/** Parses a Content-Length in bytes; undefined if it is absent or malformed. */
export const parseLength = (header: string | undefined): number | undefined =>
  header && /^\d{1,15}$/.test(header) ? Number(header) : undefined;

/** Parses the Content-Range of a 416 (RFC 9110 §15.5.17): the size in bytes; undefined if it is absent or malformed. */
export function parseUnsatisfiedRange(header: string | undefined): number | undefined {
  const [total] = groupsOf(UNSATISFIED, header?.trim());
  return total === undefined ? undefined : Number(total);
}

/** Headers of a track that the reader of ranges sets itself. */
const OWN_HEADERS = /^(if-)?range$|^accept-encoding$/i;

/**
 * The headers of a request, by the URL of each redirect hop. The headers of the track are also sent to segments on other
 * hosts than the playlist, as players do: the source itself named them.
 */
export function planHeaders(
  url: string,
  { headers, cookies }: Omit<RequestIdentity, 'url'>,
  { first, last }: { readonly first: number; readonly last: number | undefined },
): (hop: URL) => Record<string, string> {
  const trackHeaders = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name)));
  const headersFor = requestHeaders({ url, headers: trackHeaders, cookies });
  const range: Record<string, string> = last === undefined ? {} : { range: formatRange({ first, last }) };
  return (hop) => ({ ...headersFor(hop), 'accept-encoding': 'identity', ...range });
}
