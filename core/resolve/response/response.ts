import type { schema } from '../../api/index.ts';
import { type ConversionName, conversionNames, conversions } from '../../conversions/index.ts';
import { keyOf, type PlaylistEntry, type Rendition, type Resource } from '../../state/index.ts';
import type { Resolved, ResolvedPlaylist } from '../resolver.ts';

/** The contract's objects with every field written that may be null, and lists that are never null. */
export type MediaRendition = Required<schema.MediaRendition>;

export type StreamReference = Required<Omit<schema.StreamReference, 'urlType' | 'renditions'>> &
  Pick<schema.StreamReference, 'urlType'> & { renditions: MediaRendition[] };

export type MediaInformation = Omit<schema.MediaInformation, 'video' | 'audio'> & {
  video?: StreamReference;
  audio?: StreamReference;
};

export type ResourceInformation = Required<Omit<schema.ResourceInformation, 'mediaItems'>> & {
  mediaItems: MediaInformation[];
};

/**
 * UTF-8 bytes of an answer. Lambda gives back 6 MB at most, in which every quote of this JSON is escaped once more: that
 * adds about 11 %.
 */
const MOST_BYTES = 5_000_000;

type Quality = 'best' | 'medium' | 'worst';
type QualityField = 'Description' | 'Key' | 'FileExtension' | 'MimeType';

/**
 * What GetResource answers. What the contract calls nullable is an explicit null; `video`, `audio` and `urlType`, which
 * it does not, are left out when there is nothing.
 * @param requestedUrl the string this caller sent; the entries of a playlist carry their own
 */
export function toResourceInformation(resolved: Resolved, requestedUrl: string): ResourceInformation {
  if (resolved.type === 'PlayList') return playlistInformation(resolved);
  const { title, author, coverUrl } = resolved.resource;
  return { type: 'Media', title, author, coverUrl, mediaItems: [mediaInformation(resolved.resource, requestedUrl)] };
}

const playlistInformation = ({ title, author, coverUrl, items }: ResolvedPlaylist): ResourceInformation => {
  const head = { type: 'PlayList' as const, title, author, coverUrl };
  return { ...head, mediaItems: withinBounds(items, MOST_BYTES - bytesOf({ ...head, mediaItems: [] })) };
};

/** The entries, the last of them bare where all would be more than an answer can carry: those are asked for by themselves. */
function withinBounds(items: ResolvedPlaylist['items'], bytes: number): MediaInformation[] {
  const bare = items.map(({ entry }) => bareInformation(entry));
  // With the comma behind each.
  let room = bytes - bare.reduce((sum, item) => sum + bytesOf(item) + 1, 0);
  return bare.map((item, index) => {
    const { entry, resource } = items[index] ?? {};
    if (!entry || !resource || room < 0) return item;
    const whole = mediaInformation(resource, entry.url);
    // Below zero it stays there: no smaller entry comes whole behind one that is bare.
    room -= bytesOf(whole) - bytesOf(item);
    return room < 0 ? item : whole;
  });
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const bareInformation = ({ url, coverUrl, title, author }: PlaylistEntry): MediaInformation => ({
  requestedUrl: url,
  coverUrl,
  title,
  author,
});

function mediaInformation(resource: Resource, requestedUrl: string): MediaInformation {
  const offered = (side: Rendition['side']) =>
    resource.renditions.filter((rendition) => rendition.side === side).map((rendition) => toMedia(resource, rendition));
  const video = offered('video');
  const audio = offered('audio');
  const converted = conversionNames.flatMap((name) => toConversion(resource, name) ?? []);
  return {
    requestedUrl,
    ...(video.length > 0 && { video: streamReference(video) }),
    ...(audio.length + converted.length > 0 && { audio: streamReference(audio, converted) }),
    coverUrl: resource.coverUrl,
    title: resource.title,
    author: resource.author,
  };
}

/** Best, medium and worst are chosen from what the source has; conversions only end the list. */
function streamReference(
  source: readonly MediaRendition[],
  converted: readonly MediaRendition[] = [],
): StreamReference {
  const best = source[0];
  return {
    ...quality('best', best),
    ...quality('medium', source[Math.floor(source.length / 2)]),
    ...quality('worst', source.at(-1)),
    ...(best && { urlType: best.urlType }),
    renditions: [...source, ...converted],
  };
}

function quality<Q extends Quality>(name: Q, rendition: MediaRendition | undefined) {
  return {
    [`${name}QualityDescription`]: rendition?.description ?? null,
    [`${name}QualityKey`]: rendition?.key ?? null,
    [`${name}QualityFileExtension`]: rendition?.fileExtension ?? null,
    [`${name}QualityMimeType`]: rendition?.mimeType ?? null,
  } as { [field in `${Q}Quality${QualityField}`]: string | null };
}

const toMedia = (resource: Resource, rendition: Rendition): MediaRendition => ({
  key: keyOf(resource.id, rendition.id),
  label: rendition.label,
  description: rendition.description,
  fileExtension: rendition.fileExtension,
  mimeType: rendition.mimeType,
  urlType: rendition.urlType,
  fileSizeBytes: rendition.sizeBytes ?? null,
  height: rendition.height ?? null,
  bitrate: rendition.bitrate ?? null,
  convertTo: null,
});

function toConversion(resource: Resource, name: ConversionName): MediaRendition | undefined {
  const promised = resource[name];
  const { bitrateKbps, label, description, fileExtension, mimeType } = conversions[name];
  return (
    promised && {
      key: keyOf(resource.id, promised.renditionId),
      label,
      description,
      fileExtension,
      mimeType,
      urlType: 'Media',
      fileSizeBytes: promised.sizeBytes ?? null,
      height: null,
      bitrate: bitrateKbps,
      convertTo: name,
    }
  );
}
