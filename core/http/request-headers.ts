/** A cookie of a source (RFC 6265 §5.3). */
export interface Cookie {
  readonly name: string;
  readonly value: string;
  /** Host it belongs to, without a leading dot; `hostOnly` excludes the hosts below it. */
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
}

/** What a source wants to be asked with. */
export interface RequestIdentity {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly Cookie[];
}

/** What tells any host no more than a browser would. All else may be a credential. */
const HARMLESS = new Set(['user-agent', 'accept', 'accept-language', 'referer', 'origin']);

/**
 * The headers of a request for a track's bytes, hop by hop: what the source asked for goes to its own host alone, and
 * each cookie only where it belongs. For `GuardedRequest.headersFor`.
 */
export function requestHeaders({ url, headers, cookies }: RequestIdentity) {
  const home = new URL(url).origin;
  return (target: URL): Record<string, string> => {
    const cookie = cookieHeader(cookies, target);
    const sent = Object.entries(headers).filter(([name]) => target.origin === home || HARMLESS.has(name.toLowerCase()));
    return { ...Object.fromEntries(sent), ...(cookie && { cookie }) };
  };
}

/** The Cookie header for one URL (RFC 6265 §5.4); undefined when none belongs there. */
export function cookieHeader(cookies: readonly Cookie[], url: URL): string | undefined {
  const pairs = cookies.filter((cookie) => belongs(cookie, url)).map(({ name, value }) => `${name}=${value}`);
  return pairs.length > 0 ? pairs.join('; ') : undefined;
}

function belongs({ domain, hostOnly, path, secure }: Cookie, { hostname, pathname, protocol }: URL): boolean {
  if (secure && protocol !== 'https:') return false;
  // An address has no hosts below it (RFC 6265 §5.1.3).
  const below = !hostOnly && !/^[\d.]+$|:/.test(hostname) && hostname.endsWith(`.${domain}`);
  return (
    (hostname === domain || below) && (pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
  );
}
