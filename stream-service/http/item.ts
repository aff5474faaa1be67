import type { FastifyInstance } from 'fastify';
import type { schema } from '../../core/api/index.ts';
import { accessHeaderOf, mergeVary, renderJson, type SignKey, signerFor } from '../../core/http/index.ts';
import type { Segment } from '../../core/media/skipping/index.ts';
import { type KeyedRendition, type KeyLookup, keyOf } from '../../core/state/index.ts';

interface ItemRequest {
  Params: { key: string };
}

/**
 * GET and HEAD of what is known of an item, as JSON: it opens no source and counts as no stream.
 * @param path in Fastify's syntax
 * @param describe gets what signs keys where the instance is private
 */
export function itemRoute(
  app: FastifyInstance,
  path: string,
  find: Pick<KeyLookup, 'rendition'>,
  describe: (found: KeyedRendition, signKey: SignKey) => object,
): void {
  app.route<ItemRequest>({
    method: ['GET', 'HEAD'],
    url: path,
    handler: async (request, reply) => {
      const found = await find.rendition(request.params.key);
      const item = await describe(found, signerFor(accessHeaderOf(request)));
      const { headers, body } = renderJson(item, request.headers.accept);
      const vary = mergeVary(reply.getHeader('vary')?.toString(), headers.vary);
      return reply.headers({ 'cache-control': 'no-store', ...headers, vary }).send(body);
    },
  });
}

/** The answer of Item. */
export const toItem = ({ resource, rendition }: KeyedRendition, signKey: SignKey): schema.StreamedItem => ({
  title: resource.title,
  author: resource.author,
  durationSeconds: resource.durationSeconds ?? null,
  isLive: resource.isLive,
  hasCover: resource.coverUrl !== null,
  mimeType: rendition.mimeType,
  subtitles: (resource.subtitles ?? []).map(({ id, language, name = null, isAutomatic }) => {
    return { key: signKey(keyOf(resource.id, id)), language, name, isAutomatic };
  }),
});

/** The answer of Segments. */
export const toSegments = (segments: readonly Segment[]): schema.ItemSegments => ({
  segments: segments
    .map(({ category, startSeconds, endSeconds }) => ({ category, startSeconds, endSeconds }))
    .sort((a, b) => a.startSeconds - b.startSeconds),
});
