import {
  type FeedFormat,
  isSelected,
  operationsById,
  type Selection,
  streamPath,
  writeSelection,
} from '../../core/api/index.ts';
import { conversions } from '../../core/conversions/index.ts';
import { ACCESS_PARAMETER, listFileNames, type SignKey } from '../../core/http/index.ts';
import {
  exactBytes,
  type ListItem,
  normalizeLink,
  numberEntries,
  type Resolved,
  selectQuality,
} from '../../core/resolve/index.ts';
import { keyOf } from '../../core/state/index.ts';

/** A list as podcast clients and players read it. URLs are absolute where the address of the instance is known. */
export type Feed = ReturnType<typeof toFeed>;

export type FeedItem = NonNullable<ReturnType<typeof toItem>>;

interface FeedOptions {
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
export function toFeed(resolved: Resolved, options: FeedOptions, items: Iterable<FeedItem | undefined>) {
  const { link, baseUrl, selection } = options;
  const source = normalizeLink(link.trim());
  const { title, author, coverUrl } = resolved.type === 'Media' ? resolved.resource : resolved;
  const nextOffset = resolved.type === 'Media' ? undefined : resolved.nextOffset;
  const cover = itemsOf(resolved, source).find(({ entry }) => entry.coverUrl)?.entry.coverUrl;
  return {
    title: title ?? source,
    author,
    /** The list at its source. */
    link: source,
    /** This feed; undefined while the address of the instance is not known. */
    selfUrl: baseUrl && urlOf('Feed', { ...options, selection: { ...selection, feedFormat: 'rss' } }),
    /** What follows in the list. */
    nextUrl:
      baseUrl && nextOffset && !selection.entries
        ? urlOf('Feed', { ...options, selection: { ...selection, feedFormat: 'rss', offset: nextOffset } })
        : undefined,
    imageUrl: coverUrl ?? cover ?? null,
    items: [...items].filter((item) => item !== undefined),
  };
}

/** The items of a feed, in order; undefined for one without a rendition of the quality. */
export function* feedItems(resolved: Resolved, options: FeedOptions): Generator<FeedItem | undefined> {
  const source = normalizeLink(options.link.trim());
  const items = itemsOf(resolved, source);
  const numbered = [...numberEntries(items, resolved.type === 'PlayList' ? resolved : {})];
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

interface ItemNaming {
  /** Not so for items that come with the page of their list: their streams are linked, as long as keys live. */
  readonly hasOwnLink: boolean;
  readonly nameFile: (fileExtension: string) => string;
}

function toItem(item: ListItem, place: ItemNaming, options: FeedOptions) {
  const { entry, resource } = item;
  const { url } = entry;
  const { hasOwnLink } = place;
  const { entries: _, offset: __, ...ofEntry } = options.selection;
  const { skip } = ofEntry;
  const media = mediaOf(item, place, { ...options, selection: ofEntry });
  if (!media) return undefined;
  const { details, durationSeconds, subtitles, isLive = false } = resource ?? {};
  // Times of what is skipped are not those of the file, which has its own chapters.
  const chapters = skip ? undefined : details?.chapters;
  const urlInFormat = (feedFormat: FeedFormat) =>
    hasOwnLink ? urlOf('Feed', { ...options, link: url, selection: { ...ofEntry, feedFormat } }) : undefined;
  return {
    /** Stays the same whenever the feed is read. */
    id: hasOwnLink || !resource ? url : `${url}#${resource.id}`,
    title: resource?.title ?? entry.title ?? url,
    author: resource?.author ?? entry.author,
    link: url,
    description: details?.description,
    /** ISO 8601 date. */
    uploadDate: details?.uploadDate,
    durationSeconds: skip ? undefined : durationSeconds,
    imageUrl: resource?.coverUrl ?? entry.coverUrl,
    isLive,
    media,
    chapters,
    /** As JSON. */
    chaptersUrl: chapters && urlInFormat('chapters'),
    /** Its subtitles as WebVTT. */
    transcriptUrl: skip ? undefined : subtitles && urlInFormat('transcript'),
  };
}

/** What most sources have, for an item that is not resolved yet. */
const GUESSED_TYPES: Readonly<Record<string, { readonly mimeType: string; readonly fileExtension: string }>> = {
  mp3: conversions.mp3,
  audio: { mimeType: 'audio/mp4', fileExtension: '.m4a' },
};
const GUESSED_VIDEO = { mimeType: 'video/mp4', fileExtension: '.mp4' };

function mediaOf({ entry: { url }, resource }: ListItem, { hasOwnLink, nameFile }: ItemNaming, options: FeedOptions) {
  const { selection, baseUrl = '', signing } = options;
  const { quality, hasTags, audio, skip } = selection;
  const oneShot = urlOf('Get', { ...options, link: url });
  if (!resource) {
    const { mimeType, fileExtension } = (typeof quality === 'string' && GUESSED_TYPES[quality]) || GUESSED_VIDEO;
    return { url: oneShot, path: nameFile(fileExtension), mimeType, bytes: 0 };
  }
  const selected = selectQuality(resource, selection);
  if (!selected) return undefined;
  const { rendition, format, bitrateKbps } = selected;
  const key = keyOf(resource.id, rendition.id);
  const { mimeType, fileExtension } = format ? conversions[format] : rendition;
  // A link of an entry that its list names leads to another resource, whose conversion has another title in its tag.
  const isOther = hasOwnLink && (resource.origin.list !== undefined || resource.origin.url !== url);
  const isExact = !(hasTags || audio || skip || (format && isOther));
  return {
    url: hasOwnLink
      ? oneShot
      : `${baseUrl}${streamPath('Media', signing?.key(key) ?? key, { ...selection, format, bitrateKbps })}`,
    /** `List/07 - Artist - Title.mp4`, unique in the feed. Its extension is a guess while the item is not resolved. */
    path: nameFile(fileExtension),
    mimeType,
    // Exact; 0 while it is not known, as feeds have it. What is known is the size of the file without options.
    bytes: (isExact ? exactBytes(resource, selected) : undefined) ?? 0,
  };
}

/** A URL that resolves a link whenever it is used, so that it outlives keys. */
function urlOf(operationId: 'Get' | 'Feed', { link, baseUrl = '', selection, signing }: FeedOptions): string {
  const query = new URLSearchParams([['url', link], ...writeSelection(operationId, selection)]);
  const access = signing?.link?.(link);
  if (access !== undefined) query.append(ACCESS_PARAMETER, access);
  return `${baseUrl}${operationsById[operationId].path}?${query}`;
}
