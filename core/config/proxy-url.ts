/** The schemes of outgoing proxies. `socks5h` is the same as `socks5`: the proxy always resolves host names. */
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'socks5:': 'socks5:',
  'socks5h:': 'socks5:',
};

/** The form in which vendors list proxies; the password may contain any character. An IPv6 address is in brackets. */
const HOST_PORT_USER_PASSWORD = /^(\[[\da-f:.]+\]|[^\s:/?#@\\]+):(\d{1,5}):([^:]+):(.+)$/i;

const DEFAULT_SOCKS_PORT = 1080;
/** RFC 1929 §2: the lengths of user and password are one octet each. */
const MAX_SOCKS_CREDENTIAL_BYTES = 255;

/**
 * The URL of an outgoing proxy, without a path, its credentials percent-encoded; undefined for text that names none.
 * @param text `http://`, `https://`, `socks5://` or `socks5h://` with host, port and credentials; or `host:port:user:password`,
 * which is an http proxy
 */
export function normalizeProxyUrl(text: string): string | undefined {
  const url = URL.parse(fromVendorForm(text) ?? text);
  const scheme = url && SCHEMES[url.protocol];
  if (!url || !scheme || !/^\/?$/.test(url.pathname) || url.search || url.hash) return undefined;
  const credentials = [url.username, url.password].map(decoded);
  if (credentials.includes(undefined)) return undefined;
  const login = url.password ? `${url.username}:${url.password}@` : url.username && `${url.username}@`;
  if (scheme !== 'socks5:') return `${scheme}//${login}${url.host}`;

  // The host of a scheme that is unknown to the URL standard is neither checked nor in its normal form.
  const host = URL.parse(`http://${url.hostname}/`)?.hostname;
  if (!host || credentials.some((value = '') => Buffer.byteLength(value) > MAX_SOCKS_CREDENTIAL_BYTES))
    return undefined;
  return `${scheme}//${login}${host}:${url.port || DEFAULT_SOCKS_PORT}`;
}

function fromVendorForm(text: string): string | undefined {
  const [, host, port, user = '', password = ''] = HOST_PORT_USER_PASSWORD.exec(text) ?? [];
  // Half of a surrogate pair has no percent-encoding.
  if (host === undefined || !text.isWellFormed()) return undefined;
  return `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${host}:${port}`;
}

/** Libraries decode the credentials before they send them, which fails for a bare `%`; undefined for such text. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // reported by the caller
  }
}
