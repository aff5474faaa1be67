import {
  type FeedFormat,
  isSelected,
  linkUrl,
  operationsById,
  type Selection,
  writeSelection,
} from '../../../core/api/index.ts';
import { type ConversionName, conversions } from '../../../core/conversions/index.ts';
import { listFileNames, type SignKey } from '../../../core/http/index.ts';
import {
  type ListItem,
  normalizeLink,
  numberEntries,
  type Resolved,
  selectQuality,
} from '../../../core/resolve/index.ts';
import { type Chapter, keyOf, type Resource } from '../../../core/state/index.ts';

/** A list as podcast clients and players read it. URLs are absolute where the address of the instance is known. */
export interface Feed {
  readonly title: string;
  readonly author: string | null;
  /** The list at its source. */
  readonly link: string;
  /** This feed; undefined while the address of the instance is not known. */
  readonly selfUrl: string | undefined;
  readonly imageUrl: string | null;
  readonly items: readonly FeedItem[];
}

export interface FeedItem {
  /** Stays the same whenever the feed is read. */
  readonly id: string;
  readonly title: string;
  readonly author: string | null;
  readonly link: string;
  readonly description?: string;
  /** ISO 8601 date. */
  readonly uploadDate?: string;
  readonly durationSeconds?: number;
  readonly imageUrl: string | null;
  readonly isLive: boolean;
  readonly media: FeedMedia;
  readonly chapters?: readonly Chapter[];
  /** Its chapters as JSON. */
  readonly chaptersUrl?: string;
  /** Its subtitles as WebVTT. */
  readonly transcriptUrl?: string;
}

export interface FeedMedia {
  readonly url: string;
  /** `List/07 - Artist - Title.mp4`, unique in the feed. Its extension is a guess while the item is not resolved. */
  readonly path: string;
  readonly mimeType: string;
  /** Bytes, exact; 0 while they are not known, as feeds have it. */
  readonly bytes: number;
}

export interface FeedOptions {
  readonly selection: Selection;
  /** The link as the client sent it. */
  readonly link: string;
  /** Undefined: links are relative to the feed. */
  readonly baseUrl: string | undefined;
  /** Signs URLs for clients that send no access key, where the instance is private. */
  readonly signing?: { readonly key: SignKey; readonly link: SignKey | undefined } | undefined;
}

/**
 * The feed of a resolved link; a single item is a list of one.
 * @param items what `feedItems` yields
 */
export function toFeed(resolved: Resolved, options: FeedOptions, items: Iterable<FeedItem | undefined>): Feed {
  const { link, baseUrl, selection } = options;
  const source = normalizeLink(link.trim());
  const { title, author, coverUrl } = resolved.type === 'Media' ? resolved.resource : resolved;
  const cover = itemsOf(resolved, source).find(({ entry }) => entry.coverUrl)?.entry.coverUrl;
  return {
    title: title ?? source,
    author,
    link: source,
    selfUrl: baseUrl && urlOf('Feed', { ...options, selection: { ...selection, feedFormat: 'rss' } }),
    imageUrl: coverUrl ?? cover ?? null,
    items: [...items].filter((item) => item !== undefined),
  };
}

/** The items of a feed, in order; undefined for one without a rendition of the quality. */
export function* feedItems(resolved: Resolved, options: FeedOptions): Generator<FeedItem | undefined> {
  const source = normalizeLink(options.link.trim());
  const items = itemsOf(resolved, source);
  const numbered = [...numberEntries(items, resolved.type === 'PlayList' ? resolved.unavailable : [])];
  const list = resolved.type === 'Media' ? resolved.resource : resolved;
  const { pathOf } = listFileNames(list, numbered.at(-1)?.[0] ?? 0);
  for (const [number, item] of numbered) {
    if (!isSelected(number, options.selection.entries)) continue;
    const hasOwnLink = items.length === 1 || item.entry.url !== source;
    const nameFile = (extension: string) => pathOf(number, item.resource ?? item.entry, extension);
    yield toItem(item, { hasOwnLink, nameFile }, options);
  }
}

function itemsOf(resolved: Resolved, url: string): readonly ListItem[] {
  if (resolved.type === 'PlayList') return resolved.items;
  const { resource } = resolved;
  const { id, title, author, coverUrl } = resource;
  return [{ entry: { url, title, author, coverUrl, resourceId: id }, resource }];
}

interface ItemPlace {
  /** Not so for items that come with the page of their list: their streams are linked, as long as keys live. */
  readonly hasOwnLink: boolean;
  readonly nameFile: (fileExtension: string) => string;
}

function toItem(item: ListItem, place: ItemPlace, options: FeedOptions): FeedItem | undefined {
  const { entry, resource } = item;
  const { url } = entry;
  const { hasOwnLink } = place;
  const { entries: _, ...ofEntry } = options.selection;
  const { skip } = ofEntry;
  const media = mediaOf(item, place, options);
  if (!media) return undefined;
  const { details, durationSeconds, subtitles, isLive = false } = resource ?? {};
  // Times of what is skipped are not those of the file, which has its own chapters.
  const chapters = skip ? undefined : details?.chapters;
  const urlInFormat = (feedFormat: FeedFormat) =>
    hasOwnLink ? urlOf('Feed', { ...options, link: url, selection: { ...ofEntry, feedFormat } }) : undefined;
  return {
    id: hasOwnLink || !resource ? url : `${url}#${resource.id}`,
    title: resource?.title ?? entry.title ?? url,
    author: resource?.author ?? entry.author,
    link: url,
    description: details?.description,
    uploadDate: details?.uploadDate,
    durationSeconds: skip ? undefined : durationSeconds,
    imageUrl: resource?.coverUrl ?? entry.coverUrl,
    isLive,
    media,
    chapters,
    chaptersUrl: chapters && urlInFormat('chapters'),
    transcriptUrl: skip ? undefined : subtitles && urlInFormat('transcript'),
  };
}

/** What most sources have, for an item that is not resolved yet. */
const GUESSED_TYPES: Readonly<Record<string, { readonly mimeType: string; readonly fileExtension: string }>> = {
  mp3: conversions.mp3,
  audio: { mimeType: 'audio/mp4', fileExtension: '.m4a' },
};
const GUESSED_VIDEO = { mimeType: 'video/mp4', fileExtension: '.mp4' };

function mediaOf(
  { entry: { url }, resource }: ListItem,
  { hasOwnLink, nameFile }: ItemPlace,
  options: FeedOptions,
): FeedMedia | undefined {
  const { selection } = options;
  const { quality, bitrateKbps, hasTags, audio, skip } = selection;
  const oneShot = urlOf('Get', { ...options, link: url });
  if (!resource) {
    const { mimeType, fileExtension } = (typeof quality === 'string' && GUESSED_TYPES[quality]) || GUESSED_VIDEO;
    return { url: oneShot, path: nameFile(fileExtension), mimeType, bytes: 0 };
  }
  const selected = selectQuality(resource, selection);
  if (!selected) return undefined;
  const { rendition, format } = selected;
  const key = keyOf(resource.id, rendition.id);
  const { mimeType, fileExtension } = format ? conversions[format] : rendition;
  const bytes = format ? resource[format]?.sizeBytes : exactBytes(resource, rendition);
  return {
    url: hasOwnLink ? oneShot : streamUrl(options.signing?.key(key) ?? key, format, options),
    path: nameFile(fileExtension),
    mimeType,
    // What is known is the size of the file without options.
    bytes: (bitrateKbps || hasTags || audio || skip ? undefined : bytes) ?? 0,
  };
}

function exactBytes(resource: Resource, { id, formatIds }: Resource['renditions'][number]): number | undefined {
  const [track] = resource.tracks.filter(({ formatId }) => formatId === formatIds[0]);
  const isExact = formatIds.length === 1 && track?.sizeIsExact;
  return resource.exactSizes?.[id] ?? (isExact ? track.sizeBytes : undefined);
}

const urlOf = (operationId: 'Get' | 'Feed', { signing, ...options }: FeedOptions): string =>
  linkUrl(operationId, { ...options, access: signing?.link?.(options.link) });

function streamUrl(key: string, format: ConversionName | undefined, options: FeedOptions): string {
  const { baseUrl = '', selection } = options;
  const query = writeSelection('Media', { ...selection, format, bitrateKbps: format && selection.bitrateKbps });
  return `${baseUrl}${operationsById.Media.path.replace('{key}', key)}${query.size > 0 ? `?${query}` : ''}`;
}
