import type { Cookie } from '@reelay/source/request-headers';
import { type Info, isInfo, text } from '../../parsing/index.ts';

/** Linear time: each character is read at most twice. */
const NAME = /[^=;]*/y;
const QUOTED = /=\s*("(?:\\.|[^"\\])*")\s*(?=;|$)/y;
const PLAIN = /=([^;]*)/y;
/** More than any server accepts in a request. */
const MAX_LINE_LENGTH = 16 * 1024;
const MAX_COOKIES = 100;
/** Bounds the different lines of an item together: formats of several hosts have a few hundred characters each. */
const MAX_TOTAL_LENGTH = 64 * 1024;
const ATTRIBUTES = new Set(['domain', 'path', 'secure', 'expires', 'version']);

/**
 * Parses the cookies of a format. yt-dlp writes all of them in one line (`a=1; Domain=.x.example; Path=/; Secure; b=2; …`),
 * each followed by its attributes. A leading dot of the domain includes its subdomains.
 * @param host of cookies without a domain
 * @returns no cookies for a line that is too long
 */
export function parseCookies(line: string, host: string): Cookie[] {
  const cookies: Cookie[] = [];
  if (line.length > MAX_LINE_LENGTH) return cookies;
  for (const [name, value] of partsOf(line)) {
    const attribute = name.toLowerCase();
    const current = cookies.pop();
    if (current && ATTRIBUTES.has(attribute)) cookies.push(withAttribute(current, attribute, value));
    else {
      if (current) cookies.push(current);
      if (!ATTRIBUTES.has(attribute)) cookies.push(sessionCookie(name, unquote(value), host));
    }
  }
  return cookies
    .filter(({ name, value }) => name !== '' && isSendable(name) && isSendable(value))
    .slice(0, MAX_COOKIES);
}

/** Name-value pairs or single words, each up to the next semicolon outside quotes. */
function* partsOf(line: string): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at < line.length; at++) {
    const take = (pattern: RegExp) => {
      pattern.lastIndex = at;
      const found = pattern.exec(line);
      at += found?.[0].length ?? 0;
      return found;
    };
    const name = take(NAME)?.[0].trim() ?? '';
    const value = (take(QUOTED) ?? take(PLAIN))?.[1]?.trim();
    // Also without a name: the attributes that follow belong to this cookie, not to the previous one.
    if (name !== '' || value !== undefined) yield [name, value ?? ''];
  }
}

const sessionCookie = (name: string, value: string, host: string): Cookie => ({
  name,
  value,
  domain: host,
  hostOnly: true,
  path: '/',
  secure: false,
});

function withAttribute(cookie: Cookie, attribute: string, value: string): Cookie {
  if (attribute === 'secure') return { ...cookie, secure: true };
  if (attribute === 'path') return { ...cookie, path: unquote(value) || '/' };
  if (attribute === 'domain' && value !== '')
    return { ...cookie, domain: value.replace(/^\./, '').toLowerCase(), hostOnly: !value.startsWith('.') };
  return cookie;
}

/** Decodes a quoted value of Python's `http.cookies`: `\"`, `\\`, or a backslash with three octal digits. */
const unquote = (value: string): string =>
  value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value
        .slice(1, -1)
        .replaceAll(/\\([0-3][0-7]{2}|.)/g, (_, escaped: string) =>
          escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
        )
    : value;

/** Whether it contains nothing that could end the header line or the cookie. */
const isSendable = (text: string): boolean => !/[\p{Cc};]/u.test(text);

/** Reads the cookies of a format or a file for the host of its URL. */
export type CookieReader = (format: Info, url: string) => readonly Cookie[];

/** Returns a reader for one item, which caches: its formats usually have the same cookies. */
export function createCookieReader(): CookieReader {
  const parsed = new Map<string, readonly Cookie[]>();
  let left = MAX_TOTAL_LENGTH;
  return (format, url) => {
    const line = text(format.cookies);
    if (!line) return [];
    const host = new URL(url).hostname;
    const key = `${host} ${line}`;
    const known = parsed.get(key);
    if (known) return known;
    left -= line.length;
    const cookies = left < 0 ? [] : parseCookies(line, host);
    parsed.set(key, cookies);
    return cookies;
  };
}

/** Set by the stream service itself, or not to be sent to another host. */
const EXCLUDED_HEADERS = /^(?:host|range|connection|cookie|accept-encoding|content-.*|transfer-encoding|proxy-.*)$/i;

/** The headers that a format or a file is requested with, without those of the connection and of the service. */
export const readHeaders = (headers: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(isInfo(headers) ? headers : {}).filter(
      (header): header is [string, string] =>
        typeof header[1] === 'string' &&
        /^[\w-]+$/.test(header[0]) &&
        !EXCLUDED_HEADERS.test(header[0]) &&
        !/\p{Cc}/u.test(header[1]),
    ),
  );

/** A fragment that identifies a page (`#!/video/1`, `#/video/1`). */
const ROUTE_FRAGMENT = /^#!?\//;
/** yt-dlp reads internal options from such a fragment, which could override the URL and headers of its requests. */
const SMUGGLED = '__youtubedl_smuggle';

/** The form in which a link is resolved and stored: WHATWG, without userinfo, and without a fragment that is not a route. */
export function normalizeLink(link: string): string {
  const url = new URL(link);
  url.username = '';
  url.password = '';
  if (!ROUTE_FRAGMENT.test(url.hash) || url.hash.includes(SMUGGLED)) url.hash = '';
  return url.href;
}

const SECONDS_PARAMETERS = new Set(['expire', 'expires', 'exp', 'e']);
const PATH_PARAMETER = /\/(?:expire|expires)\/(\d{10})(?:\/|$)/;
/** Prefixes of the signature parameters of S3 and Google Cloud Storage. */
const SIGNATURE_PREFIXES = ['x-amz', 'x-goog'];
/** Further ones are not read. */
const MAX_PARAMETERS = 100;
/** A number further in the future is not an expiry. */
const MAX_LIFETIME_SECONDS = 400 * 86_400;

/**
 * When a signed URL expires, read from the URL itself: `expire=`, `Expires=`, `e=` …, the same in the path, or date and
 * lifetime of an S3 or Google Cloud Storage signature.
 * @param now epoch seconds: a number in the past is not an expiry
 * @returns epoch seconds; undefined when the URL does not say
 */
export function urlExpiresAt(url: string, now: number): number | undefined {
  const parsed = URL.parse(url);
  if (!parsed) return undefined;
  const query = new URLSearchParams(parsed.search.split('&', MAX_PARAMETERS).join('&'));
  const parameters = new Map(Array.from(query, ([name, value]) => [name.toLowerCase(), value]));
  const times = [
    ...Array.from(parameters, ([name, value]) => (SECONDS_PARAMETERS.has(name) ? seconds(value) : Number.NaN)),
    ...SIGNATURE_PREFIXES.map((prefix) =>
      signatureExpiry(parameters.get(`${prefix}-date`), parameters.get(`${prefix}-expires`)),
    ),
    seconds(PATH_PARAMETER.exec(parsed.pathname)?.[1]),
  ];
  const plausible = times.filter((time) => time > now && time < now + MAX_LIFETIME_SECONDS);
  return plausible.length > 0 ? Math.min(...plausible) : undefined;
}

/** Reads epoch seconds, or epoch milliseconds, which some sites write. */
function seconds(value: string | undefined): number {
  const digits = /^\d{10}(?:\d{3})?$/.exec(String(value))?.[0];
  return digits?.length === 13 ? Math.floor(Number(digits) / 1000) : Number(digits);
}

/** `20261121T071100Z` and a lifetime in seconds. */
function signatureExpiry(date: string | undefined, lifetime: string | undefined): number {
  const iso = String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return Date.parse(iso) / 1000 + Number.parseInt(String(lifetime), 10);
}
