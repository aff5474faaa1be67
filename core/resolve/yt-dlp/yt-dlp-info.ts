/** What yt-dlp says of an item, a format, an entry or a thumbnail: JSON from far away, trusted in nothing. */
export type Info = Readonly<Record<string, unknown>>;

/** More is no size of a file, and nothing else that is counted here. */
const MOST = 1e13;

/** A figure above zero. yt-dlp writes 0 where a side is absent, and null where it does not know. */
export const positiveNumber = (value: unknown, most = MOST): number | undefined =>
  typeof value === 'number' && value > 0 && value < most ? value : undefined;

/** Pixels, hertz: whole, and within 32 bits. */
export const positiveInteger = (value: unknown): number | undefined => {
  const known = positiveNumber(value, 2 ** 31 - 1);
  return known === undefined ? undefined : Math.ceil(known);
};

/** A text that says something, without the space around it. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

export const infoList = (value: unknown): readonly Info[] => (Array.isArray(value) ? value.filter(isInfo) : []);

export const isInfo = (value: unknown): value is Info =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The URL in WHATWG form when it is one of http or https; a relative one needs its base. */
export function webUrl(value: unknown, base?: string): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value, base) : null;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url.href : undefined;
}

/** Drops what is undefined: unknown is absent, in the table too. */
export const withoutAbsent = <T extends object>(value: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
