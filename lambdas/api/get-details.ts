import type { schema } from '../../core/api/index.ts';
import type { SignKey } from '../../core/http/index.ts';
import { keyOf, type Resource } from '../../core/state/index.ts';
import { createHandler, type Handler, signKeyFor } from '../middleware/index.ts';
import { createResolveRequest, type ResolveOptions, singleResource } from './resolve-request.ts';

/** GET /api/Fetch/GetDetails: what GetResource leaves out, from the same resolve. */
export const createGetDetails = (options: ResolveOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  return createHandler(options, async (event, context) => {
    const { resolved } = await resolveRequest(event, context);
    return { json: toMediaDetails(singleResource(resolved), signKeyFor(event)) };
  });
};

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
    description: details.description ?? null,
    uploadDate: details.uploadDate ?? null,
    tags: [...(details.tags ?? [])],
    chapters: (details.chapters ?? []).map((chapter) => ({ ...chapter, endSeconds: chapter.endSeconds ?? null })),
    thumbnails: (details.thumbnails ?? []).map(({ url, width, height }) => ({
      url,
      width: width ?? null,
      height: height ?? null,
    })),
    subtitles: subtitles.map((subtitle) => ({
      key: signKey(keyOf(id, subtitle.id)),
      language: subtitle.language,
      name: subtitle.name ?? null,
      isAutomatic: subtitle.isAutomatic,
    })),
  };
}
