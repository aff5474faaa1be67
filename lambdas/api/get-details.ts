import { getOperation, type schema } from '../../core/api/index.ts';
import type { SignKey } from '../../core/http/index.ts';
import {
  availabilityDelayMs,
  keyOf,
  mayHaveStoryboard,
  type Rendition,
  type Resource,
} from '../../core/state/index.ts';
import { createHandler, type Handler, signKeyFor } from '../middleware/index.ts';
import { audioRenditions, toMedia } from './get-resource.ts';
import { createResolveRequest, type ResolveOptions, singleResource } from './resolve-request.ts';

/** GET /api/Fetch/GetDetails: what GetResource leaves out, from the same resolve. */
export const createGetDetails = (options: ResolveOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  return createHandler({ ...options, methods: getOperation('GetDetails').methods }, async (event, context) => {
    const { resolved } = await resolveRequest(event, context);
    return { json: toMediaDetails(singleResource(resolved), signKeyFor(event)) };
  });
};

/** Until the source serves the last of its tracks; null when it serves all. */
function availableInSeconds({ tracks }: Resource, now: number): number | null {
  const delayMs = Math.max(...tracks.map((track) => availabilityDelayMs(track, now)));
  return delayMs > 0 ? Math.ceil(delayMs / 1000) : null;
}

function toAudioVersion(resource: Resource, rendition: Rendition, signKey: SignKey): schema.AudioVersion {
  const { key, label, description, fileExtension, mimeType, fileSizeBytes, bitrate } = toMedia(
    resource,
    rendition,
    signKey,
  );
  const { language = null, versions = [] } = rendition;
  return {
    ...{ key, label, description, fileExtension, mimeType, fileSizeBytes, bitrate, language },
    isOriginal: versions.includes('original'),
    isDubbed: versions.includes('dubbed'),
    isDescriptive: versions.includes('descriptive'),
    isDrc: versions.includes('drc'),
  };
}

/** The key of any rendition leads to the pictures of its item. */
function storyboardKey(resource: Resource, signKey: SignKey): string | null {
  const [rendition] = resource.renditions;
  return rendition && mayHaveStoryboard(resource) ? signKey(keyOf(resource.id, rendition.id)) : null;
}

/**
 * The response of GetDetails. Unknown values are null, and unknown lists empty.
 * @param signKey signs the keys where the instance is private
 */
export function toMediaDetails(resource: Resource, signKey: SignKey = (key) => key): schema.MediaDetails {
  const { id, title, author, coverUrl, durationSeconds, isLive, details = {}, subtitles = [] } = resource;
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
    storyboardKey: storyboardKey(resource, signKey),
  };
}
