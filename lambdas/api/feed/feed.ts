import { getOperation, type Selection, selectionQuery, toQuery } from '../../../core/api/index.ts';
import { conversions } from '../../../core/conversions/index.ts';
import { ACCESS_PARAMETER, type SignKey } from '../../../core/http/index.ts';
import { normalizeLink, type Resolved, selectQuality } from '../../../core/resolve/index.ts';
import { type Chapter, keyOf, type PlaylistEntry, type Resource } from '../../../core/state/index.ts';

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
}

export interface FeedMedia {
  readonly url: string;
  readonly mimeType: string;
  /** Bytes, exact; 0 while they are not known, as feeds have it. */
  readonly bytes: number;
}

export interface FeedOptions extends Selection {
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
export function toFeed(
  resolved: Resolved,
  options: FeedOptions,
  items: Iterable<FeedItem | undefined> = feedItems(resolved, options),
): Feed {
  const { link, baseUrl } = options;
  const source = normalizeLink(link.trim());
  const { title, author, coverUrl } = resolved.type === 'Media' ? resolved.resource : resolved;
  const cover = itemsOf(resolved, source).find(({ entry }) => entry.coverUrl)?.entry.coverUrl;
  return {
    title: title ?? source,
    author,
    link: source,
    selfUrl: baseUrl && urlOf('Feed', { ...options, format: 'rss' }),
    imageUrl: coverUrl ?? cover ?? null,
    items: [...items].filter((item) => item !== undefined),
  };
}

/** The items of a feed, in order; undefined for one without a rendition of the quality. */
export function* feedItems(resolved: Resolved, options: FeedOptions): Generator<FeedItem | undefined> {
  const source = normalizeLink(options.link.trim());
  const items = itemsOf(resolved, source);
  for (const item of items) yield toItem(item, items.length === 1 || item.entry.url !== source, options);
}

interface ListItem {
  readonly entry: PlaylistEntry;
  readonly resource?: Resource;
}

function itemsOf(resolved: Resolved, url: string): readonly ListItem[] {
  if (resolved.type === 'PlayList') return resolved.items;
  const { resource } = resolved;
  const { id, title, author, coverUrl } = resource;
  return [{ entry: { url, title, author, coverUrl, resourceId: id }, resource }];
}

/**
 * @param hasOwnLink not so for items that come with the page of their list: their streams are linked, as long as keys
 * live
 */
function toItem(item: ListItem, hasOwnLink: boolean, options: FeedOptions): FeedItem | undefined {
  const { entry, resource } = item;
  const { url } = entry;
  const media = mediaOf(item, hasOwnLink, options);
  if (!media) return undefined;
  const { details, durationSeconds, isLive = false } = resource ?? {};
  return {
    id: hasOwnLink || !resource ? url : `${url}#${resource.id}`,
    title: resource?.title ?? entry.title ?? url,
    author: resource?.author ?? entry.author,
    link: url,
    description: details?.description,
    uploadDate: details?.uploadDate,
    durationSeconds,
    imageUrl: resource?.coverUrl ?? entry.coverUrl,
    isLive,
    media,
    chapters: details?.chapters,
    chaptersUrl:
      details?.chapters && hasOwnLink ? urlOf('Feed', { ...options, link: url, format: 'chapters' }) : undefined,
  };
}

/** What most sources have, for an item that is not resolved yet. */
const GUESSED_TYPES: Readonly<Record<string, string>> = { mp3: conversions.mp3.mimeType, audio: 'audio/mp4' };

function mediaOf(
  { entry: { url }, resource }: ListItem,
  hasOwnLink: boolean,
  options: FeedOptions,
): FeedMedia | undefined {
  const { quality } = options;
  const oneShot = urlOf('Get', { ...options, link: url });
  if (!resource)
    return { url: oneShot, mimeType: (typeof quality === 'string' && GUESSED_TYPES[quality]) || 'video/mp4', bytes: 0 };
  const selected = selectQuality(resource, options);
  if (!selected) return undefined;
  const { rendition, format } = selected;
  const key = keyOf(resource.id, rendition.id);
  return {
    url: hasOwnLink ? oneShot : streamUrl(options.signing?.key(key) ?? key, format, options.baseUrl),
    mimeType: format ? conversions[format].mimeType : rendition.mimeType,
    bytes: (format ? resource[format]?.sizeBytes : exactBytes(resource, rendition)) ?? 0,
  };
}

function exactBytes(resource: Resource, { id, formatIds }: Resource['renditions'][number]): number | undefined {
  const [track] = resource.tracks.filter(({ formatId }) => formatId === formatIds[0]);
  const isExact = formatIds.length === 1 && track?.sizeIsExact;
  return resource.exactSizes?.[id] ?? (isExact ? track.sizeBytes : undefined);
}

function urlOf(
  operationId: 'Get' | 'Feed',
  { baseUrl = '', link, format, signing, ...selection }: FeedOptions & { readonly format?: string },
): string {
  const access = { [ACCESS_PARAMETER]: signing?.link?.(link) };
  const query = toQuery({ url: link, format, ...selectionQuery(selection), ...access });
  return `${baseUrl}${getOperation(operationId).path}?${query}`;
}

const streamUrl = (key: string, format: string | undefined, baseUrl = ''): string =>
  `${baseUrl}${getOperation('Media').path.replace('{key}', key)}${format ? `?format=${format}` : ''}`;
