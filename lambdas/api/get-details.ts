import { availabilityDelayMs } from '@reelay/source/track';
import { readSelection, type Schema } from '../../core/api/index.ts';
import { readWaitPreference, type SignKey } from '../../core/http/index.ts';
import type { ResolvedPlaylist } from '../../core/resolve/index.ts';
import { keyOf, type Rendition, type Resource, youtubeIdOf } from '../../core/state/index.ts';
import { headerOf, type OperationHandler, signKeyFor } from '../http-handler.ts';
import { audioRenditions, toMedia } from './get-resource.ts';
import type { ResolveDependencies } from './resolve-request.ts';

export interface GetDetailsOptions extends ResolveDependencies {
  /** Service that knows segments of videos. @default there is none */
  readonly sponsorblockUrl?: string;
}

/** GET /api/Fetch/GetDetails: what GetResource leaves out, from the same resolve; of a list of one, that of its item. */
export const createGetDetails =
  ({ resolveRequest, sponsorblockUrl }: GetDetailsOptions): OperationHandler =>
  async (event, context) => {
    const { offset } = readSelection('GetDetails', new URLSearchParams(event.rawQueryString));
    const maxEntryWaitSeconds = readWaitPreference(headerOf(event, 'prefer'));
    const { resolved } = await resolveRequest(event, context, { maxEntryWaitSeconds, offset });
    const options = { signKey: signKeyFor(event), hasSegments: sponsorblockUrl !== undefined };
    if (resolved.type === 'Media') return { json: toMediaDetails(resolved.resource, options) };
    const { items, unavailableEntries = [] } = resolved;
    const [first, second] = items;
    const details = first?.resource && !second ? toMediaDetails(first.resource, options) : toListDetails(resolved);
    return { json: { ...details, unavailable: unavailableEntries } };
  };

const toListDetails = ({ title, author, coverUrl }: ResolvedPlaylist): Schema<'MediaDetails'> => ({
  type: 'PlayList',
  title,
  author,
  coverUrl,
  durationSeconds: null,
  isLive: false,
  availableInSeconds: null,
  description: null,
  uploadDate: null,
  tags: [],
  chapters: [],
  thumbnails: [],
  audio: [],
  subtitles: [],
  segmentsKey: null,
  unavailable: [],
});

/** Until the source serves the last of its tracks; null when it serves all. */
function availableInSeconds({ tracks }: Resource, now: number): number | null {
  const delayMs = Math.max(...tracks.map((track) => availabilityDelayMs(track, now)));
  return delayMs > 0 ? Math.ceil(delayMs / 1000) : null;
}

function toAudioVersion(resource: Resource, rendition: Rendition, signKey: SignKey): Schema<'AudioVersion'> {
  const { key, label, description, fileExtension, mimeType, fileSizeBytes, bitrate } = toMedia(
    resource,
    rendition,
    signKey,
  );
  const { language = null, versions = [] } = rendition;
  return {
    key,
    label,
    description,
    fileExtension,
    mimeType,
    fileSizeBytes,
    bitrate,
    language,
    isOriginal: versions.includes('original'),
    isDubbed: versions.includes('dubbed'),
    isDescriptive: versions.includes('descriptive'),
    isDrc: versions.includes('drc'),
  };
}

interface DetailsOptions {
  /** Signs the keys where the instance is private. */
  readonly signKey?: SignKey;
  /** Whether the instance knows segments of videos. @default false */
  readonly hasSegments?: boolean;
}

/** The response of GetDetails. Unknown values are null, and unknown lists empty. */
export function toMediaDetails(
  resource: Resource,
  { signKey = (key) => key, hasSegments = false }: DetailsOptions = {},
): Schema<'MediaDetails'> {
  const { id, title, author, coverUrl, durationSeconds, isLive, details = {}, subtitles = [] } = resource;
  const [first] = resource.renditions;
  // The key of any rendition leads to what is known of its item.
  const itemKey = first ? signKey(keyOf(id, first.id)) : null;
  return {
    type: 'Media',
    title,
    author,
    coverUrl,
    durationSeconds: durationSeconds ?? null,
    isLive,
    availableInSeconds: availableInSeconds(resource, Date.now()),
    description: details.description ?? null,
    uploadDate: details.uploadDate ?? null,
    tags: [...(details.tags ?? [])],
    chapters: (details.chapters ?? []).map((chapter) => ({ ...chapter, endSeconds: chapter.endSeconds ?? null })),
    thumbnails: (details.thumbnails ?? []).map(({ url, width, height }) => ({
      url,
      width: width ?? null,
      height: height ?? null,
    })),
    audio: audioRenditions(resource).map((rendition) => toAudioVersion(resource, rendition, signKey)),
    subtitles: subtitles.map((subtitle) => ({
      key: signKey(keyOf(id, subtitle.id)),
      language: subtitle.language,
      name: subtitle.name ?? null,
      isAutomatic: subtitle.isAutomatic,
    })),
    segmentsKey: hasSegments && youtubeIdOf(resource) ? itemKey : null,
    unavailable: [],
  };
}
