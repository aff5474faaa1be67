import type { AppInfo, MediaInformation, MediaRendition, ResourceInformation, StreamReference } from './contract.ts';

/** What a server answers has another shape than the contract says. */
export class UnexpectedShape extends TypeError {
  override readonly name = 'UnexpectedShape';
}

type Fields = Readonly<Record<string, unknown>>;

/** More are not shown: the limit of a service is 200 entries, and some hundred renditions. */
const MAX_ITEMS = 5_000;
export const MAX_RENDITIONS = 1_000;
/** Characters of a text. */
const MAX_TEXT = 10_000;

const asObject = (value: unknown): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnexpectedShape();
  return value as Fields;
};

export const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' || value.length > MAX_TEXT) throw new UnexpectedShape();
  return value;
};

export const asNumber = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new UnexpectedShape();
  return value;
};

/** An http or https URL; null for any other text: links and images are made of it. */
export const asWebUrl = (value: unknown): string | null => {
  const text = asText(value);
  const protocol = text !== null && URL.canParse(text) ? new URL(text).protocol : undefined;
  return protocol === 'http:' || protocol === 'https:' ? text : null;
};

export function asList<T>(value: unknown, max: number, read: (entry: unknown) => T): T[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || value.length > max) throw new UnexpectedShape();
  return value.map(read);
}

const asUrlType = (value: unknown): 'Combined' | 'Media' | undefined => {
  if (value === undefined || value === null) return undefined;
  if (value !== 'Combined' && value !== 'Media') throw new UnexpectedShape();
  return value;
};

/** Named fields, each by its reader. */
export const asFields = <T>(value: unknown, readers: { readonly [K in keyof T]-?: (field: unknown) => T[K] }): T => {
  const fields = asObject(value);
  const entries = Object.entries(readers) as [string, (field: unknown) => unknown][];
  return Object.fromEntries(entries.map(([name, read]) => [name, read(fields[name])])) as T;
};

/** A rendition as the contract describes it. @throws UnexpectedShape */
export const asRendition = (value: unknown): MediaRendition =>
  asFields(value, {
    key: asText,
    label: asText,
    description: asText,
    fileExtension: asText,
    mimeType: asText,
    urlType: asUrlType,
    fileSizeBytes: asNumber,
    height: asNumber,
    bitrate: asNumber,
    convertTo: asText,
  });

/** The fields of a side besides its renditions are texts: `bestQualityKey` and so on. */
const asSide = (value: unknown): StreamReference | undefined => {
  if (value === undefined || value === null) return undefined;
  const { urlType, renditions, ...texts } = asObject(value);
  return {
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, asText(text)])),
    urlType: asUrlType(urlType),
    renditions: asList(renditions, MAX_RENDITIONS, asRendition),
  };
};

const asItem = (value: unknown): MediaInformation =>
  asFields(value, {
    requestedUrl: asWebUrl,
    video: asSide,
    audio: asSide,
    coverUrl: asWebUrl,
    title: asText,
    author: asText,
  });

const asMediaType = (value: unknown): ResourceInformation['type'] => {
  if (value !== 'Media' && value !== 'PlayList' && value !== 'Unknown') throw new UnexpectedShape();
  return value;
};

const asItems = (value: unknown): MediaInformation[] => {
  if (value === undefined) throw new UnexpectedShape();
  return asList(value, MAX_ITEMS, asItem);
};

const asHealth = (value: unknown): boolean => {
  if (typeof value !== 'boolean') throw new UnexpectedShape();
  return value;
};

/** A resource as the contract describes it. @throws UnexpectedShape */
export const asResource = (value: unknown): ResourceInformation =>
  asFields(value, {
    type: asMediaType,
    title: asText,
    author: asText,
    coverUrl: asWebUrl,
    mediaItems: asItems,
  });

/** The state of an instance. @throws UnexpectedShape */
export const asAppInfo = (value: unknown): AppInfo =>
  asFields(value, { version: asText, isHealthy: asHealth, environment: asText, maintenance: asText });
