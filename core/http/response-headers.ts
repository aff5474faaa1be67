import { digestOf } from '@reelay/seekable-media/values';
import { ACCESS_REQUEST_HEADERS } from './client.ts';

/** Response headers that pages of other origins may read. */
const EXPOSED_HEADERS = [
  'Content-Disposition',
  'Content-Location',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Estimated-Content-Length',
  'Retry-After',
  'X-Argon-Start',
  'X-Maintenance',
  'X-Playlist',
  'X-Request-Count',
  'X-Tools',
].join(', ');

/** Request headers that pages may send. */
const ALLOWED_HEADERS = [
  // The documentation of Google Cast names Accept-Encoding, which browsers send without asking.
  ...['Range', 'If-Range', 'Accept', 'Accept-Encoding', 'Content-Type', 'Prefer'],
  // Sent by clients of the Model Context Protocol.
  ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
];

const PREFLIGHT_MAX_AGE_SECONDS = 7200;

/**
 * The headers that let a page of `origin` read a response (Fetch standard, CORS protocol). For an origin that is not allowed
 * only `Vary`; none if no origin is allowed at all.
 * @param allowed origins, or `*` for any
 */
export function corsHeaders(origin: string | undefined, allowed: readonly string[]): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {};
  if (!isAllowed(origin, allowed)) return { vary: 'Origin' };
  return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED_HEADERS };
}

interface Preflight {
  readonly origin: string | undefined;
  /** Origins, or `*` for any. */
  readonly allowed: readonly string[];
  /** The methods of the path besides OPTIONS, such as `GET, HEAD`. */
  readonly methods: string;
  /** The value of `ACCESS_HEADER`: pages may send keys to a private instance. */
  readonly accessHeader?: string | undefined;
}

/** The headers of the 204 to an OPTIONS request. */
export function preflightHeaders(preflight: Preflight): Readonly<Record<string, string>> {
  const { origin, allowed, methods, accessHeader } = preflight;
  const headers = { ...corsHeaders(origin, allowed), allow: `${methods}, OPTIONS` };
  if (!isAllowed(origin, allowed)) return headers;
  return {
    ...headers,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': [...ALLOWED_HEADERS, ...(accessHeader ? ACCESS_REQUEST_HEADERS : [])].join(', '),
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
  };
}

/** Destinations of navigations within a page (Fetch standard, request destination). */
const FRAMES = ['iframe', 'frame', 'fencedframe', 'embed', 'object'];
/** Serialization of an opaque origin: a sandboxed frame, a `data:` URL, a local file, a redirect between sites. */
const OPAQUE_ORIGIN = 'null';

/** Tells the sites of the page and of the instance apart, by the browser. */
const FETCH_SITE = 'Sec-Fetch-Site';

/**
 * Whether a page of another site causes a request by itself (Fetch Metadata), so that it must neither cause work nor tell by its
 * answer what others have asked for. Navigations of a tab, pages of allowed origins, browser extensions and apps (origins with
 * schemes of their own) are not meant, nor are clients that send no such headers.
 * @param headerOf reads a request header by its lower-case name
 * @param allowed origins, or `*` for any
 */
export function isCrossSiteSubrequest(
  headerOf: (name: string) => string | undefined,
  allowed: readonly string[],
): boolean {
  if (!isCrossSite(headerOf) || allowed.includes('*')) return false;
  const mode = headerOf('sec-fetch-mode');
  const isFrame = FRAMES.includes(headerOf('sec-fetch-dest') ?? '');
  // A navigation that is only expected runs in the background, without its user.
  if (mode === 'navigate' && !isFrame) return headerOf('sec-purpose') !== undefined;
  // Images, scripts, media and frames carry no origin. A page can withhold this one, and cannot forge it.
  if (mode === 'no-cors' || isFrame) return !isAllowed(URL.parse(headerOf('referer') ?? '')?.origin, allowed);
  const origin = headerOf('origin');
  return origin !== undefined && isOriginOfPage(origin) && !isAllowed(origin, allowed);
}

/** Whether a shared cache would hand the answer to a request on to pages of other sites, which may not have it. */
export const isForCrossSite = (headerOf: (name: string) => string | undefined, allowed: readonly string[]): boolean =>
  isCrossSite(headerOf) && !isAllowed(headerOf('origin'), allowed);

const isCrossSite = (headerOf: (name: string) => string | undefined): boolean =>
  headerOf(FETCH_SITE.toLowerCase()) === 'cross-site';

/**
 * Headers of what `isCrossSiteSubrequest` keeps from pages. Where no page is allowed, browsers also keep the response from them
 * that send no Fetch Metadata: old ones, and all by plain HTTP to another machine.
 * @param allowed origins, or `*` for any
 */
export function crossSiteHeaders(allowed: readonly string[]): Readonly<Record<string, string>> {
  if (allowed.includes('*')) return {};
  return { vary: FETCH_SITE, ...(allowed.length === 0 && { 'cross-origin-resource-policy': 'same-site' }) };
}

/**
 * Whether a page sends a request whose origin is neither allowed nor the instance's own. The Model Context Protocol requires the
 * check of every request, also where a browser sends no Fetch Metadata.
 * @param allowed origins, or `*` for any
 * @param ownUrl the base URL of the instance; undefined: not known
 */
export function isForeignPage(
  origin: string | undefined,
  allowed: readonly string[],
  ownUrl: string | undefined,
): boolean {
  if (origin === undefined || !isOriginOfPage(origin) || isAllowed(origin, allowed)) return false;
  const own = ownUrl && URL.parse(ownUrl)?.host;
  // Only the host: a proxy in front may receive HTTPS that this process does not know of.
  return !own || URL.parse(origin)?.host !== own;
}

const isOriginOfPage = (origin: string): boolean => origin === OPAQUE_ORIGIN || /^https?:/i.test(origin);

/** Merges field names of several `Vary` headers, without duplicates. */
export const mergeVary = (...fields: readonly (string | undefined)[]): string =>
  [...new Set(fields.flatMap((field) => field?.split(/\s*,\s*/) ?? []))].filter((name) => name !== '').join(', ');

const isAllowed = (origin: string | undefined, allowed: readonly string[]): origin is string =>
  origin !== undefined && (allowed.includes('*') || allowed.includes(origin));

/** A strong entity tag (RFC 9110 §8.8.3), of what `digestOf` takes. */
export const entityTag = (value: unknown): string => `"${digestOf(value)}"`;
