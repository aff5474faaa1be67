/** What pages of other origins may read besides the body. */
const EXPOSED = [
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Estimated-Content-Length',
  'Retry-After',
  'X-Request-Count',
].join(', ');

const PREFLIGHT_SECONDS = 7200;

/**
 * The headers that let a page of `origin` read an answer (Fetch standard, CORS protocol): one rule for every host, so
 * that no two disagree. Without an allowed origin only `Vary`, and nothing at all where no origin is allowed.
 * @param allowed origins, or `*` for any
 */
export function corsHeaders(origin: string | undefined, allowed: readonly string[]): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {};
  if (!isAllowed(origin, allowed)) return { vary: 'Origin' };
  return { vary: 'Origin', 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED };
}

/** What an OPTIONS request is answered, with status 204. `methods` of the path, such as `GET, HEAD`. */
export function preflightHeaders(
  origin: string | undefined,
  allowed: readonly string[],
  methods: string,
): Readonly<Record<string, string>> {
  const headers = { ...corsHeaders(origin, allowed), allow: `${methods}, OPTIONS` };
  if (!isAllowed(origin, allowed)) return headers;
  return {
    ...headers,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': 'Range, If-Range, Accept, Content-Type',
    'access-control-max-age': String(PREFLIGHT_SECONDS),
  };
}

/** `Vary` of an answer that two rules have a say in. */
export const mergeVary = (...fields: readonly (string | undefined)[]): string =>
  [...new Set(fields.flatMap((field) => field?.split(/\s*,\s*/) ?? []))].filter((name) => name !== '').join(', ');

const isAllowed = (origin: string | undefined, allowed: readonly string[]): origin is string =>
  origin !== undefined && (allowed.includes('*') || allowed.includes(origin));
