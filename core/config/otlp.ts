import { defineParser, SettingError, splitList } from './parsers.ts';

const ENDPOINT = 'an http or https URL without credentials and query, such as http://127.0.0.1:4318';

/** The base URL of an OTLP receiver. The error line does not repeat it: it may contain credentials. */
export const otlpEndpoint = defineParser(ENDPOINT, (name, text): string => {
  const url = URL.parse(text);
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isPlain) throw new SettingError(`${name} must be ${ENDPOINT}`);
  return url.href.replace(/\/$/, '');
});

const HEADERS = 'name=value, percent-encoded, separated by commas';

/** Headers as name and value. The error line names an entry by its number alone: it may contain credentials. */
export const otlpHeaders = defineParser(HEADERS, (name, text): (readonly [name: string, value: string])[] =>
  splitList(text).map((item, index) => {
    const [, header = '', encoded = ''] = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*)$/.exec(item) ?? [];
    const value = decode(encoded);
    if (header && value !== undefined && /^[\x20-\x7e]*$/.test(value)) return [header.toLowerCase(), value];
    throw new SettingError(`${name} must be ${HEADERS}; entry ${index + 1} is something else`);
  }),
);

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
