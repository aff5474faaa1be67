/** A setting that makes no sense. The message is one line for the operator and names the setting. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

type Parser<T> = (name: string, text: string) => T;

const refuse = (name: string, wanted: string, text: string): never => {
  // What may carry a password is not repeated.
  const shown = text.includes('@') ? '' : `, not ${JSON.stringify(text.slice(0, 100))}`;
  throw new SettingError(`${name} must be ${wanted}${shown}`);
};

export const wholeNumber =
  (least: number, most: number): Parser<number> =>
  (name, text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
      ? Number(text)
      : refuse(name, `a whole number from ${least} to ${most}`, text);

export const oneOf =
  <T extends string>(...choices: readonly T[]): Parser<T> =>
  (name, text) =>
    choices.find((choice) => choice.toLowerCase() === text.toLowerCase()) ??
    refuse(name, `one of ${choices.join(', ')}`, text);

export const flag: Parser<boolean> = (name, text) =>
  /^(on|true|1|yes)$/i.test(text) || (/^(off|false|0|no)$/i.test(text) ? false : refuse(name, 'on or off', text));

const items = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** `https://page.example` with or without a port, and nothing behind it; or `*`. */
export const origins: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    if (item === '*') return item;
    const url = URL.parse(item);
    const isOrigin = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    return isOrigin ? url.origin : refuse(name, 'a comma list of origins such as https://page.example, or *', item);
  });

/** A name, an IPv4 address, or an IPv6 address in brackets. No wildcards: each entry opens one port of one host. */
const HOST_PORT = /^(\[[\da-f:.]+\]|[^\s*?#/\\@[\]:]+):(\d{1,5})$/i;

/** `host:port`; an IPv6 address in brackets. */
export const hostPorts: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    const [, , port] = HOST_PORT.exec(item) ?? [];
    return Number(port) > 0 && URL.canParse(`http://${item}/`) ? item : refuse(name, 'a comma list of host:port', item);
  });

/** Never repeats what it refuses: however it is written, it may hold a password. */
export const proxyUrls: Parser<string[]> = (name, text) =>
  items(text).map((item, index) => {
    if (isProxyUrl(item)) return item;
    throw new SettingError(
      `${name} must be a comma list of http://user:password@host:port, special characters percent-encoded; entry ${index + 1} is something else`,
    );
  });

function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname + url.search + url.hash !== '/') return false;
  return [url.username, url.password].every(isPercentEncoded);
}

/** Whoever logs in with it decodes it first. */
function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false; // a `%` that stands for itself
  }
}
