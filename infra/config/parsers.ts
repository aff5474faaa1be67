/** A setting that makes no sense. The message is one line for the operator and names the setting. */
export class ContextError extends Error {
  override readonly name = 'ContextError';
}

type Parser<T> = (name: string, text: string) => T;

function refuse(name: string, wanted: string, text: string): never {
  // What may carry a password is not repeated.
  const shown = text.includes('@') ? '' : `, not ${JSON.stringify(text.slice(0, 100))}`;
  throw new ContextError(`${name} must be ${wanted}${shown}`);
}

/** What context gives as text, number, boolean or list (`-c` always text), as one text. Blank counts as not set. */
export function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((item) => textOf(name, item)).join(',');
  if (typeof value === 'object') throw new ContextError(`${name} must be a plain value, not an object`);
  return String(value).trim();
}

export const wholeNumber =
  (least: number, most: number): Parser<number> =>
  (name, text) =>
    /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
      ? Number(text)
      : refuse(name, `a whole number from ${least} to ${most}`, text);

export const oneOfNumbers =
  (...choices: readonly number[]): Parser<number> =>
  (name, text) =>
    choices.find((choice) => String(choice) === text) ?? refuse(name, `one of ${choices.join(', ')}`, text);

export const oneOf =
  <T extends string>(...choices: readonly T[]): Parser<T> =>
  (name, text) =>
    choices.find((choice) => choice.toLowerCase() === text.toLowerCase()) ??
    refuse(name, `one of ${choices.join(', ')}`, text);

/** `wanted` says in words what the pattern says. */
export const matching =
  (pattern: RegExp, wanted: string): Parser<string> =>
  (name, text) =>
    pattern.test(text) ? text : refuse(name, wanted, text);

export const onOff: Parser<boolean> = (name, text) =>
  /^(on|true|1|yes)$/i.test(text) || (/^(off|false|0|no)$/i.test(text) ? false : refuse(name, 'on or off', text));

export const secretArn = matching(
  /^arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]+-\w{6}$/,
  'the whole ARN of a secret in Secrets Manager',
);

const items = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** `https://page.example` with or without a port, and nothing behind it; or `*`. */
export const corsOrigins: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    const url = item === '*' ? undefined : URL.parse(item);
    const isOrigin = url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
    if (item === '*' || isOrigin) return url?.origin ?? item;
    return refuse(name, 'a comma list of origins such as https://page.example, or *', item);
  });

/** `host:port`; an IPv6 address in brackets. */
export const hostPorts: Parser<string[]> = (name, text) =>
  items(text).map((item) => {
    const url = /^[^/?#@]+:[1-9]\d{0,4}$/.test(item) ? URL.parse(`http://${item}/`) : undefined;
    return url ? item : refuse(name, 'a comma list of host:port', item);
  });

/** Two different zone ids, which mean the same place in every account: `use1-az1`. */
export const zoneIds: Parser<readonly [string, string]> = (name, text) => {
  const [first, second, ...more] = items(text);
  const areZones = [first, second].every((zone) => /^[a-z]{2,6}\d-az\d$/.test(zone ?? ''));
  if (first && second && areZones && first !== second && more.length === 0) return [first, second];
  return refuse(name, 'two zone ids such as use1-az1,use1-az2', text);
};
