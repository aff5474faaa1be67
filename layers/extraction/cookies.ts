import type { Cookie } from '../state/index.ts';

/** A pair, or a word alone, up to the next semicolon that is not inside quotes. */
const PART = /\s*([^=;]+?)\s*(?:=\s*("(?:\\.|[^"\\])*"|[^;]*?)\s*)?(?:;|$)/gy;
const ATTRIBUTES = new Set(['domain', 'path', 'secure', 'expires', 'version']);

/**
 * The cookies of a format. yt-dlp writes them all in one line (`a=1; Domain=.x.example; Path=/; Secure; b=2; …`), each
 * followed by its attributes. A leading dot of the domain admits the hosts below it.
 * @param host what a cookie without a domain belongs to
 */
export function parseCookies(line: string, host: string): Cookie[] {
  const cookies: Cookie[] = [];
  for (const [, name = '', value = ''] of line.matchAll(PART)) {
    const attribute = name.toLowerCase();
    const current = cookies.pop();
    if (current && ATTRIBUTES.has(attribute)) cookies.push(withAttribute(current, attribute, value));
    else {
      if (current) cookies.push(current);
      if (!ATTRIBUTES.has(attribute)) cookies.push(sessionCookie(name, unquote(value), host));
    }
  }
  return cookies.filter(({ name, value }) => isSendable(name) && isSendable(value));
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

/** Undoes Python's `http.cookies`: a quoted value writes some characters as `\"`, `\\` or three octal digits. */
const unquote = (value: string): string =>
  value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value
        .slice(1, -1)
        .replaceAll(/\\([0-3][0-7]{2}|.)/g, (_, escaped: string) =>
          escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
        )
    : value;

/** Nothing that could end a header line. */
const isSendable = (text: string): boolean => !/[\p{Cc};]/u.test(text);
