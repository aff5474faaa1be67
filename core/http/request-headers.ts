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
