/** yt-dlp's JSON of an item, a format, an entry or a thumbnail. Untrusted: each field may have any type. */
export type Info = Readonly<Record<string, unknown>>;

/** Above any file size, in bytes. */
const MAX_NUMBER = 1e13;

/** A number above zero. yt-dlp writes 0 for a missing track, and null for an unknown value. */
export const positiveNumber = (value: unknown, max = MAX_NUMBER): number | undefined =>
  typeof value === 'number' && value > 0 && value < max ? value : undefined;

/** For pixels and hertz: rounded up, within 32 bits. */
export const positiveInteger = (value: unknown): number | undefined => {
  const number = positiveNumber(value, 2 ** 31 - 1);
  return number === undefined ? undefined : Math.ceil(number);
};

/** A trimmed string; undefined when it is empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

export const infoList = (value: unknown): readonly Info[] => (Array.isArray(value) ? value.filter(isInfo) : []);

export const isInfo = (value: unknown): value is Info =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An http or https URL in WHATWG form; undefined for anything else. `base` resolves relative URLs. */
export function webUrl(value: unknown, base?: string): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value, base) : null;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** Drops undefined fields: an unknown value is absent, in the table too. */
export const withoutAbsent = <T extends object>(value: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
