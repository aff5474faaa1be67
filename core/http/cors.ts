import { ACCESS_REQUEST_HEADERS } from './access.ts';

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
  'X-Playlist',
  'X-Request-Count',
  'X-Tools',
].join(', ');

/** Request headers that pages may send. */
const ALLOWED_HEADERS = ['Range', 'If-Range', 'Accept', 'Content-Type', 'Prefer'];

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

/**
 * The headers of the 204 to an OPTIONS request.
 * @param methods of the path besides OPTIONS, such as `GET, HEAD`
 * @param accessHeader value of `ACCESS_HEADER`: pages may send keys to a private instance
 */
export function preflightHeaders(
  origin: string | undefined,
  allowed: readonly string[],
  methods: string,
  accessHeader?: string,
): Readonly<Record<string, string>> {
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

/**
 * Whether a page of another site causes a request by itself (Fetch Metadata), so that it must not cause the work of a resolve.
 * Navigations of a tab, pages of allowed origins, browser extensions and apps (origins with schemes of their own) are not meant,
 * nor are clients that send no such headers.
 * @param headerOf reads a request header by its lower-case name
 * @param allowed origins, or `*` for any
 */
export function isCrossSiteSubrequest(
  headerOf: (name: string) => string | undefined,
  allowed: readonly string[],
): boolean {
  if (headerOf('sec-fetch-site') !== 'cross-site') return false;
  if (FRAMES.includes(headerOf('sec-fetch-dest') ?? '')) return true;
  const mode = headerOf('sec-fetch-mode');
  // A navigation that is only expected runs in the background, without its user.
  if (mode === 'navigate') return headerOf('sec-purpose') !== undefined;
  // Images, scripts and media, which carry no origin: the page cannot read the response.
  if (mode === 'no-cors') return true;
  const origin = headerOf('origin');
  return origin !== undefined && isOriginOfPage(origin) && !isAllowed(origin, allowed);
}

const isOriginOfPage = (origin: string): boolean => origin === OPAQUE_ORIGIN || /^https?:/i.test(origin);

/** Merges field names of several `Vary` headers, without duplicates. */
export const mergeVary = (...fields: readonly (string | undefined)[]): string =>
  [...new Set(fields.flatMap((field) => field?.split(/\s*,\s*/) ?? []))].filter((name) => name !== '').join(', ');

const isAllowed = (origin: string | undefined, allowed: readonly string[]): origin is string =>
  origin !== undefined && (allowed.includes('*') || allowed.includes(origin));
