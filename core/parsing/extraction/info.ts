/** yt-dlp's JSON of an item, a format, an entry or a thumbnail. Untrusted: each field may have any type. */
export type Info = Readonly<Record<string, unknown>>;

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

/** Includes the parts of one show (`multi_video`). */
export const isList = (info: Info): boolean => info._type === 'playlist' || info._type === 'multi_video';

/** Whether an entry of a list was extracted together with it; otherwise it has to be resolved by its own URL. */
export const isResolvedEntry = (entry: Info): boolean =>
  entry._type !== 'url' && entry._type !== 'url_transparent' && !isList(entry);
