import { parseHostPort } from '@reelay/guarded-fetch/host-port';

/** A setting with an invalid value. The message is one line for the operator and names the setting. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Reads the text of a setting. @throws SettingError that names the setting */
export interface Parser<T> {
  (name: string, text: string): T;
  /** Completes "must be …" in error lines and describes the values in the documentation. */
  readonly accepts: string;
}

/** Attaches the description of the accepted values to a function that parses them. */
export const defineParser = <T>(accepts: string, parse: (name: string, text: string) => T): Parser<T> =>
  Object.assign((name: string, text: string) => parse(name, text), { accepts });

/** A parser of one value; `read` returns undefined for text that is invalid. */
const single = <T>(accepts: string, read: (text: string) => T | undefined): Parser<T> =>
  defineParser(accepts, (name, text) => read(text) ?? refuse(name, accepts, text));

/** A parser of a comma list; blank items are skipped. */
export const listOf = <T>(accepts: string, readItem: (item: string) => T | undefined): Parser<T[]> =>
  defineParser(accepts, (name, text) => splitList(text).map((item) => readItem(item) ?? refuse(name, accepts, item)));

function refuse(name: string, accepts: string, text: string): never {
  // Text with an @ may contain a password.
  const shown = text.includes('@') ? '' : `, not ${JSON.stringify(text.slice(0, 100))}`;
  throw new SettingError(`${name} must be ${accepts}${shown}`);
}

/** Trimmed items of a comma list, blank ones removed. */
const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** A parser of a list of what may contain secrets: the error line names an item by its number alone. */
export const secretList = <T>(
  accepts: string,
  readItem: (item: string) => T | undefined,
  split = splitList,
): Parser<T[]> =>
  defineParser(accepts, (name, text) =>
    split(text).map((item, index) => {
      const value = readItem(item);
      if (value !== undefined) return value;
      throw new SettingError(`${name} must be ${accepts}; entry ${index + 1} is something else`);
    }),
  );

/** Reads a file or folder that a setting names. @throws SettingError with the code of the failure */
export function readPath<T>(name: string, { accepts, path, read }: NamedPath<T>): T {
  try {
    return read(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new SettingError(`${name} must be ${accepts}: ${path} cannot be read (${code})`, { cause });
  }
}

interface NamedPath<T> {
  readonly accepts: string;
  readonly path: string;
  readonly read: (path: string) => T;
}

/** Text that is used as it is. */
export const anyText = (accepts: string): Parser<string> => single(accepts, (text) => text);

/** An integer within inclusive bounds. */
export const wholeNumber = (min: number, max: number): Parser<number> =>
  single(`a whole number from ${min} to ${max}`, (text) =>
    /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
  );

/** US dollars within inclusive bounds, with cents. */
export const dollars = (min: number, max: number): Parser<number> =>
  single(`US dollars from ${min} to ${max}`, (text) =>
    /^\d{1,9}(\.\d{1,2})?$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
  );

/** One of several numbers. */
export const oneOfNumbers = (...choices: readonly number[]): Parser<number> =>
  single(`one of ${choices.join(', ')}`, (text) => choices.find((choice) => String(choice) === text));

/** One of several words, in any case; returns the spelling of `choices`. */
export const oneOf = <T extends string>(...choices: readonly T[]): Parser<T> =>
  single(`one of ${choices.join(', ')}`, (text) =>
    choices.find((choice) => choice.toLowerCase() === text.toLowerCase()),
  );

/** Text that matches a pattern; `accepts` describes the pattern in words. */
export const matching = (pattern: RegExp, accepts: string): Parser<string> =>
  single(accepts, (text) => (pattern.test(text) ? text : undefined));

/** `on`, `true`, `1`, `yes` and their opposites. */
export const flag: Parser<boolean> = single('on or off', (text) => {
  if (/^(on|true|1|yes)$/i.test(text)) return true;
  return /^(off|false|0|no)$/i.test(text) ? false : undefined;
});

const WEB_PROTOCOLS = new Set(['http:', 'https:']);

function parseWebUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url && WEB_PROTOCOLS.has(url.protocol) ? url : undefined;
}

/** Web origins, with or without a port and without a path; or `*`. */
export const origins: Parser<string[]> = listOf(
  'a comma list of origins such as https://page.example, or *',
  (item) => {
    if (item === '*') return item;
    const url = parseWebUrl(item);
    return url && url.href === `${url.origin}/` ? url.origin : undefined;
  },
);

/** One web origin, without a path. */
export const webOrigin: Parser<string> = single('an origin such as https://media.example', (item) => {
  const url = parseWebUrl(item);
  return url && url.href === `${url.origin}/` ? url.origin : undefined;
});

/** A path that no path of the API begins with. */
export const basePath: Parser<string> = single('a path such as /reelay', (text) =>
  /^(?!\/(?:api|mcp|swagger)$)(?:\/[\w.~-]+)+$/i.test(text) ? text : undefined,
);

/** Links; a comma within one is percent-encoded. */
export const links: Parser<string[]> = listOf('a comma list of http and https links', (item) =>
  parseWebUrl(item) ? item : undefined,
);

/** URIs of contacts (RFC 9116 §2.5.3), which contain no quotes or spaces. */
export const contacts: Parser<string[]> = listOf(
  'a comma list of https:, mailto: and tel: URIs such as mailto:security@example.org',
  (item) =>
    /^(?:https:\/\/|mailto:[^@]+@|tel:\+?\d)[\w.~%+@:/?#&=;-]+$/i.test(item) && URL.canParse(item) ? item : undefined,
);

/** `host:port`; an IPv6 address in brackets. */
export const hostPorts: Parser<string[]> = listOf('a comma list of host:port', (item) =>
  parseHostPort(item) ? item : undefined,
);

/** Host names or addresses without a port; those of IPv6 in brackets. */
export const hostNames: Parser<string[]> = listOf('a comma list of host names without ports', (item) =>
  /^(\[[\da-f:.]+\]|[^\s*?#/\\@[\]:]+)$/i.test(item) && URL.canParse(`http://${item}/`) ? item : undefined,
);

/** Outgoing proxies, as URLs. */
export const proxyUrls: Parser<string[]> = secretList(
  'a comma list of http://, https:// or socks5://user:password@host:port, special characters percent-encoded, or of host:port:user:password',
  normalizeProxyUrl,
);

/** As `--extractor-args` of yt-dlp, which may contain tokens. */
export const ytDlpExtractorArgs: Parser<string[]> = secretList(
  'arguments such as youtube:player_client=web;skip=dash, those of several extractors separated by blanks',
  (item) => (/^[\w.+-]+:[\w.-]+=./.test(item) ? item : undefined),
  (text) => text.split(/\s+/).filter((item) => item !== ''),
);

/** The ARN of a secret, with the six random characters at its end that IAM policies need. */
export const secretArn: Parser<string> = matching(
  /^arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-\w{6}$/,
  'the whole ARN of a secret in Secrets Manager',
);

/** Two different zone ids, which mean the same place in every account: `use1-az1`. */
export const zoneIds: Parser<readonly [string, string]> = single(
  'two zone ids of one region such as use1-az1,use1-az2',
  (text): readonly [string, string] | undefined => {
    const zones = splitList(text);
    const [first, second, ...more] = zones.map((zone) => /^([a-z]{2,6}\d)-az\d$/.exec(zone)?.[1]);
    const isPair = first !== undefined && first === second && zones[0] !== zones[1] && more.length === 0;
    return isPair ? (zones as [string, string]) : undefined;
  },
);

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
