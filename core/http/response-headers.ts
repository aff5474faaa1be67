import { createHash } from 'node:crypto';
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
  ...['Range', 'If-Range', 'Accept', 'Content-Type', 'Prefer'],
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

export interface Preflight {
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

/** The media types of JSON responses; the first wins a tie. */
export const JSON_TYPES = ['application/json', 'text/json', 'text/plain'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** A JSON response without its status. */
export interface JsonResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Serializes a value as the JSON type that `accept` prefers. */
export const renderJson = (value: unknown, accept: string | undefined): JsonResponse => ({
  headers: { 'content-type': `${chooseJsonType(accept)}; charset=utf-8`, vary: 'Accept' },
  body: JSON.stringify(value),
});

/**
 * The JSON type that an Accept header prefers (RFC 9110 §12.5.1). `application/json` for a tie, a wildcard, another type or
 * no header: 406 is never answered. Libraries choose the client's first type in a tie instead.
 */
export function chooseJsonType(accept = ''): JsonType {
  const ranges = accept.split(',', MAX_MEDIA_RANGES).map(parseRange);
  const rated = JSON_TYPES.map((type) => ({ type, weight: weightOf(type, ranges) }));
  const highest = Math.max(...rated.map(({ weight }) => weight));
  const best = rated.filter(({ weight }) => weight === highest);
  return best.length === 1 && best[0] ? best[0].type : 'application/json';
}

/**
 * The seconds that a client prefers to wait at most, of a Prefer header such as `wait=3` (RFC 7240 §4.3). Undefined without that
 * preference, or for a malformed one, which is ignored.
 */
export function readWaitPreference(prefer = ''): number | undefined {
  const preference = prefer
    .split(',', MAX_PREFERENCES)
    .map((part) => part.split(';')[0]?.trim() ?? '')
    .find((part) => /^wait\b/i.test(part));
  const [, digits] = /^wait\s*=\s*"?(\d{1,6})"?$/i.exec(preference ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Preferences read of a header, which bounds the cost of a malicious one. */
const MAX_PREFERENCES = 16;

/** Media ranges parsed of a header, which bounds the cost of a malicious one. */
const MAX_MEDIA_RANGES = 64;

interface MediaRange {
  readonly range: string;
  readonly weight: number;
}

function parseRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { range, weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}

/** The weight of the most specific range that matches the type. */
function weightOf(type: JsonType, ranges: readonly MediaRange[]): number {
  const names = [type, `${type.split('/')[0]}/*`, '*/*'];
  for (const name of names) {
    const found = ranges.find(({ range }) => range === name);
    if (found) return found.weight;
  }
  return 0;
}

/** 132 bits in base64url. */
const CHARACTERS = 22;

/** A digest in base64url of bytes or text, or of the JSON of another value, which differs where the values do. */
export const digestOf = (value: unknown, characters = CHARACTERS): string =>
  createHash('sha256')
    .update(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))
    .digest('base64url')
    .slice(0, characters);

/** A strong entity tag (RFC 9110 §8.8.3), of what `digestOf` takes. */
export const entityTag = (value: unknown): string => `"${digestOf(value)}"`;

/** Whether an If-None-Match names the entity tag, by weak comparison (RFC 9110 §13.1.2). */
export const matchesEntityTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((known) => ['*', tag].includes(known.trim().replace(/^W\//, '')));
