const EXPOSED = [
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Accept-Ranges',
  'ETag',
  'Estimated-Content-Length',
  'Retry-After',
].join(', ');

export interface CrossOrigin {
  /** For any answer to a page of that origin. */
  headers(origin: string | undefined): Readonly<Record<string, string>>;
  /** For the answer to a preflight, `Allow` aside. */
  preflight(origin: string | undefined): Readonly<Record<string, string>>;
}

/** Which pages may read answers. `allowed`: origins, or `*`. */
export function createCrossOrigin(allowed: readonly string[]): CrossOrigin {
  const vary: Record<string, string> = allowed.length > 0 ? { vary: 'Origin' } : {};
  const admits = (origin: string | undefined): origin is string =>
    origin !== undefined && (allowed.includes('*') || allowed.includes(origin));
  const headers = (origin: string | undefined) =>
    admits(origin)
      ? { ...vary, 'access-control-allow-origin': origin, 'access-control-expose-headers': EXPOSED }
      : vary;

  return {
    headers,
    preflight: (origin) =>
      admits(origin)
        ? {
            ...headers(origin),
            'access-control-allow-methods': 'GET, HEAD',
            'access-control-allow-headers': 'Range, If-Range',
            'access-control-max-age': '86400',
          }
        : headers(origin),
  };
}
