/**
 * GET /api/Fetch/GetResource: metadata and renditions of a link. The whole way:
 *
 * 1. `http-handler.ts` finds the operation by its path, and turns JSON and failures into responses.
 * 2. `resolve-request.ts` reads `url`: 400 for an invalid one, 403 for a page of another site, 503 during maintenance. The deadline
 *    is 25 s after the request arrived, because API Gateway ends it after 30 s.
 * 3. `core/resolve` resolves it. Concurrent requests for one link share one resolve; a fresh resource in the state table is
 *    returned at once. Otherwise a fork of the warm yt-dlp extracts the link, from the next outgoing address if the site blocks one.
 *    Formats become tracks, missing facts are probed, tracks become ranked renditions, and the resource is stored. Keys that were
 *    promised earlier stay valid.
 * 4. The request is counted, which never fails the response, and the resource is returned as JSON.
 */
import { abortable } from '@reelay/concurrency';
import { readSelection, type Schema } from '../../core/api/index.ts';
import { type ConversionName, conversionNames, conversions } from '../../core/conversions/index.ts';
import { readWaitPreference, type SignKey } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Resolved, ResolvedPlaylist } from '../../core/resolve/index.ts';
import { keyOf, type PlaylistEntry, type Rendition, type Resource, type State } from '../../core/state/index.ts';
import { type HandlerOptions, headerOf, type OperationHandler, signKeyFor } from '../http-handler.ts';
import type { ResolveDependencies } from './resolve-request.ts';

/** Delay that a response accepts for being counted. */
const COUNT_TIMEOUT_MS = 2_000;

export interface GetResourceOptions extends ResolveDependencies, Pick<HandlerOptions, 'log'> {
  readonly state: Pick<State, 'addRequest'>;
}

/** The handler of GetResource. */
export const createGetResource =
  ({ resolveRequest, state, log }: GetResourceOptions): OperationHandler =>
  async (event, context) => {
    const waitSeconds = readWaitPreference(headerOf(event, 'prefer'));
    const { offset } = readSelection('GetResource', new URLSearchParams(event.rawQueryString));
    const { resolved, sent } = await resolveRequest(event, context, { maxEntryWaitSeconds: waitSeconds, offset });
    await countRequest(state, log);
    const json = toResourceInformation(resolved, sent, signKeyFor(event));
    if (resolved.type !== 'PlayList') return { json };
    const applied = waitSeconds !== undefined && { 'preference-applied': `wait=${waitSeconds}` };
    return { json, headers: { 'x-playlist': describePlaylist(resolved), ...applied } };
  };

/**
 * What the response cannot say, as a dictionary (RFC 9651): `listed` entries, `total` at the source if known, `cut` at the
 * limit, which `next` entries precede, and the one-based places in the list of `unavailable` entries.
 */
function describePlaylist({ items, totalEntries, offset, nextOffset, unavailable = [] }: ResolvedPlaylist): string {
  const members = [
    `listed=${items.length}`,
    totalEntries !== undefined && `total=${totalEntries}`,
    offset && `offset=${offset}`,
    nextOffset && `cut, next=${nextOffset}`,
    unavailable.length > 0 && `unavailable=(${unavailable.join(' ')})`,
  ];
  return members.filter(Boolean).join(', ');
}

/** A counter that fails or hangs does not fail the response. */
async function countRequest(state: Pick<State, 'addRequest'>, log: Log): Promise<void> {
  await abortable(state.addRequest(), AbortSignal.timeout(COUNT_TIMEOUT_MS)).catch((error) =>
    log.warn('Failed to count request', { error }),
  );
}

type MediaInformation = Schema<'MediaInformation'>;
type MediaRendition = Schema<'MediaRendition'>;
type ResourceInformation = Schema<'ResourceInformation'>;
type StreamReference = Schema<'StreamReference'>;

/**
 * Bounds the response body, in UTF-8. Lambda limits a response to 6 MB; escaping the quotes of the body within its own JSON adds
 * about 11 %.
 */
const MAX_RESPONSE_BYTES = 5_000_000;

type Quality = 'best' | 'medium' | 'worst';
type QualityField = 'Description' | 'Key' | 'FileExtension' | 'MimeType';

/**
 * The response of GetResource. Nullable fields of the schema are an explicit null; `video`, `audio` and `urlType`, which are
 * not nullable, are absent.
 * @param requestedUrl as this caller sent it; entries of a playlist have their own
 * @param signKey signs the keys where the instance is private
 */
export function toResourceInformation(
  resolved: Resolved,
  requestedUrl: string,
  signKey: SignKey = (key) => key,
): ResourceInformation {
  if (resolved.type === 'PlayList') return playlistInformation(resolved, signKey);
  const { title, author, coverUrl } = resolved.resource;
  return {
    type: 'Media',
    title,
    author,
    coverUrl,
    mediaItems: [mediaInformation(resolved.resource, requestedUrl, signKey)],
  };
}

const playlistInformation = (
  { title, author, coverUrl, items }: ResolvedPlaylist,
  signKey: SignKey,
): ResourceInformation => {
  const head = { type: 'PlayList' as const, title, author, coverUrl };
  return {
    ...head,
    mediaItems: boundedItems(items, MAX_RESPONSE_BYTES - bytesOf({ ...head, mediaItems: [] }), signKey),
  };
};

/** Beyond `maxBytes`, the remaining entries have bare metadata: clients resolve those separately. */
function boundedItems(items: ResolvedPlaylist['items'], maxBytes: number, signKey: SignKey): MediaInformation[] {
  const bare = items.map(({ entry }) => bareInformation(entry));
  // One byte each for the comma.
  let remainingBytes = maxBytes - bare.reduce((sum, item) => sum + bytesOf(item) + 1, 0);
  return bare.map((item, index) => {
    const { entry, resource } = items[index] ?? {};
    if (!entry || !resource || remainingBytes < 0) return item;
    const complete = mediaInformation(resource, entry.url, signKey);
    // Stays negative once it is: no smaller entry is complete after one that is bare.
    remainingBytes -= bytesOf(complete) - bytesOf(item);
    return remainingBytes < 0 ? item : complete;
  });
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const bareInformation = ({ url, coverUrl, title, author }: PlaylistEntry): MediaInformation => ({
  requestedUrl: url,
  coverUrl,
  title,
  author,
});

function mediaInformation(resource: Resource, requestedUrl: string, signKey: SignKey): MediaInformation {
  const toMediaList = (renditions: readonly Rendition[]) =>
    renditions.map((rendition) => toMedia(resource, rendition, signKey));
  const video = toMediaList(resource.renditions.filter(({ side }) => side === 'video'));
  const audio = toMediaList(audioRenditions(resource).filter(({ isAlternate }) => !isAlternate));
  const converted = conversionNames.flatMap((name) => toConversion(resource, name, signKey) ?? []);
  return {
    requestedUrl,
    ...(video.length > 0 && { video: streamReference(video) }),
    ...(audio.length + converted.length > 0 && { audio: streamReference(audio, converted) }),
    coverUrl: resource.coverUrl,
    title: resource.title,
    author: resource.author,
  };
}

/**
 * The audio of an item, best first. Without an audio-only format, those with both tracks: clients that want audio alone then
 * play or convert them.
 */
export function audioRenditions({ renditions, tracks }: Resource): readonly Rendition[] {
  const audioOnly = renditions.filter(({ side }) => side === 'audio');
  if (audioOnly.length > 0) return audioOnly;
  const audible = new Set(tracks.filter(({ audio }) => audio !== null).map(({ formatId }) => formatId));
  return renditions.filter(({ urlType, formatIds }) => urlType === 'Media' && audible.has(formatIds[0]));
}

/** @param signKey signs the key where the instance is private */
export const toMedia = (resource: Resource, rendition: Rendition, signKey: SignKey): MediaRendition => ({
  key: signKey(keyOf(resource.id, rendition.id)),
  label: rendition.label,
  description: rendition.description,
  fileExtension: rendition.fileExtension,
  mimeType: rendition.mimeType,
  urlType: rendition.urlType,
  fileSizeBytes: resource.exactSizes?.[rendition.id] ?? rendition.sizeBytes ?? null,
  height: rendition.height ?? null,
  bitrate: rendition.bitrate ?? null,
  convertTo: null,
});

/** The conversion of that name; undefined when none is promised. */
function toConversion(resource: Resource, name: ConversionName, signKey: SignKey): MediaRendition | undefined {
  const promised = resource[name];
  const { bitrateKbps, listedAs, fileExtension, mimeType } = conversions[name];
  return (
    promised &&
    listedAs && {
      key: signKey(keyOf(resource.id, promised.renditionId)),
      ...listedAs,
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

/** Best, medium and worst are renditions of the source; conversions are only appended to the list. */
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
