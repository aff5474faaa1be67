import type { AppInfo, MediaInformation, MediaRendition, ResourceInformation, StreamReference } from './contract.ts';

/** What a server answers has another shape than the contract says. */
export class UnexpectedShape extends TypeError {
  override readonly name = 'UnexpectedShape';
}

type Fields = Readonly<Record<string, unknown>>;

/** More are not shown: the limit of a service is 200 entries, and some hundred renditions. */
const MAX_ITEMS = 5_000;
const MAX_RENDITIONS = 1_000;
/** Characters of a text. */
const MAX_TEXT = 10_000;

const asObject = (value: unknown): Fields => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new UnexpectedShape('Not an object');
  return value as Fields;
};

const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'string' || value.length > MAX_TEXT) throw new UnexpectedShape('Not a text');
  return value;
};

const asNumber = (value: unknown): number | null => {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) throw new UnexpectedShape('Not a number');
  return value;
};

/** An http or https URL; null for any other text: links and images are made of it. */
const asWebUrl = (value: unknown): string | null => {
  const text = asText(value);
  const protocol = text !== null && URL.canParse(text) ? new URL(text).protocol : undefined;
  return protocol === 'http:' || protocol === 'https:' ? text : null;
};

function asList<T>(value: unknown, max: number, read: (entry: unknown) => T): T[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || value.length > max) throw new UnexpectedShape('Not a list');
  return value.map(read);
}

const asUrlType = (value: unknown): 'Combined' | 'Media' | undefined => {
  if (value === undefined || value === null) return undefined;
  if (value !== 'Combined' && value !== 'Media') throw new UnexpectedShape('Not a URL type');
  return value;
};

const asRendition = (value: unknown): MediaRendition => {
  const fields = asObject(value);
  const { key, label, description, fileExtension, mimeType, urlType, fileSizeBytes, height, bitrate, convertTo } =
    fields;
  return {
    key: asText(key),
    label: asText(label),
    description: asText(description),
    fileExtension: asText(fileExtension),
    mimeType: asText(mimeType),
    urlType: asUrlType(urlType),
    fileSizeBytes: asNumber(fileSizeBytes),
    height: asNumber(height),
    bitrate: asNumber(bitrate),
    convertTo: asText(convertTo),
  };
};

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

const asItem = (value: unknown): MediaInformation => {
  const { requestedUrl, video, audio, coverUrl, title, author } = asObject(value);
  return {
    requestedUrl: asWebUrl(requestedUrl),
    video: asSide(video),
    audio: asSide(audio),
    coverUrl: asWebUrl(coverUrl),
    title: asText(title),
    author: asText(author),
  };
};

/** A resource as the contract describes it. @throws UnexpectedShape */
export function asResource(value: unknown): ResourceInformation {
  const { type, title, author, coverUrl, mediaItems } = asObject(value);
  if (type !== 'Media' && type !== 'PlayList' && type !== 'Unknown') throw new UnexpectedShape('Not a media type');
  if (mediaItems === undefined) throw new UnexpectedShape('No items');
  return {
    type,
    title: asText(title),
    author: asText(author),
    coverUrl: asWebUrl(coverUrl),
    mediaItems: asList(mediaItems, MAX_ITEMS, asItem),
  };
}

/** The state of an instance. @throws UnexpectedShape */
export function asAppInfo(value: unknown): AppInfo {
  const { version, isHealthy, environment, maintenance } = asObject(value);
  if (typeof isHealthy !== 'boolean') throw new UnexpectedShape('Not a health');
  return { version: asText(version), isHealthy, environment: asText(environment), maintenance: asText(maintenance) };
}
