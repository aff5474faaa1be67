import { parseHostPort } from '@reelay/guarded-fetch/host-port';
import { normalizeProxyUrl } from './proxy-url.ts';

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
