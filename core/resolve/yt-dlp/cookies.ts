import type { Cookie } from '../../http/index.ts';

/** Each of these reads a character once, or twice where quotes turn out not to be any. */
const NAME = /[^=;]*/y;
const QUOTED = /=\s*("(?:\\.|[^"\\])*")\s*(?=;|$)/y;
const PLAIN = /=([^;]*)/y;
/** Characters of a line, and cookies out of it: no server takes as many in a request. */
const LONGEST_LINE = 16 * 1024;
const MOST = 100;
const ATTRIBUTES = new Set(['domain', 'path', 'secure', 'expires', 'version']);

/**
 * The cookies of a format. yt-dlp writes them all in one line (`a=1; Domain=.x.example; Path=/; Secure; b=2; …`), each
 * followed by its attributes. A leading dot of the domain admits the hosts below it. A line that is too long gives none.
 * @param host what a cookie without a domain belongs to
 */
export function parseCookies(line: string, host: string): Cookie[] {
  const cookies: Cookie[] = [];
  if (line.length > LONGEST_LINE) return cookies;
  for (const [name, value] of partsOf(line)) {
    const attribute = name.toLowerCase();
    const current = cookies.pop();
    if (current && ATTRIBUTES.has(attribute)) cookies.push(withAttribute(current, attribute, value));
    else {
      if (current) cookies.push(current);
      if (!ATTRIBUTES.has(attribute)) cookies.push(sessionCookie(name, unquote(value), host));
    }
  }
  return cookies.filter(({ name, value }) => name !== '' && isSendable(name) && isSendable(value)).slice(0, MOST);
}

/** Pairs, or words alone, each up to the next semicolon that is not inside quotes. */
function* partsOf(line: string): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at < line.length; at++) {
    const take = (pattern: RegExp) => {
      pattern.lastIndex = at;
      const found = pattern.exec(line);
      at += found?.[0].length ?? 0;
      return found;
    };
    const name = take(NAME)?.[0].trim() ?? '';
    const value = (take(QUOTED) ?? take(PLAIN))?.[1]?.trim();
    // Without a name too: what follows is said of that cookie, and not of the one before.
    if (name !== '' || value !== undefined) yield [name, value ?? ''];
  }
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
