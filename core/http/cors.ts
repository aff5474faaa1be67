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

/** Merges field names of several `Vary` headers, without duplicates. */
export const mergeVary = (...fields: readonly (string | undefined)[]): string =>
  [...new Set(fields.flatMap((field) => field?.split(/\s*,\s*/) ?? []))].filter((name) => name !== '').join(', ');

const isAllowed = (origin: string | undefined, allowed: readonly string[]): origin is string =>
  origin !== undefined && (allowed.includes('*') || allowed.includes(origin));
