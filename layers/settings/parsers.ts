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

/** `host:port`; an IPv6 address in brackets. */
export const hostPorts: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(item) ?? [];
    const url = URL.parse(`http://${host}:${port}/`);
    const isPair = url && url.host !== '' && url.pathname === '/' && url.username === '' && Number(port) > 0;
    return isPair ? item : refuse(name, 'a comma list of host:port', item);
  });

export const httpUrls: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    const url = URL.parse(item);
    return url && /^https?:$/.test(url.protocol) ? item : refuse(name, 'a comma list of http or https URLs', item);
  });
