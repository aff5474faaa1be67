import type { FastifyInstance } from 'fastify';
import type { schema } from '../../core/api/index.ts';
import { accessHeaderOf, mergeVary, renderJson, type SignKey, signerFor } from '../../core/http/index.ts';
import { type KeyedRendition, type KeyLookup, keyOf, mayHaveStoryboard } from '../../core/state/index.ts';

interface ItemRequest {
  Params: { key: string };
}

/** GET and HEAD of Item, from the table alone: it opens no source and counts as no stream. @param path in Fastify's syntax */
export function itemRoute(app: FastifyInstance, path: string, find: Pick<KeyLookup, 'rendition'>): void {
  app.route<ItemRequest>({
    method: ['GET', 'HEAD'],
    url: path,
    handler: async (request, reply) => {
      const found = await find.rendition(request.params.key);
      const item = toItem(found, signerFor(accessHeaderOf(request)));
      const { headers, body } = renderJson(item, request.headers.accept);
      const vary = mergeVary(reply.getHeader('vary')?.toString(), headers.vary);
      return reply.headers({ 'cache-control': 'no-store', ...headers, vary }).send(body);
    },
  });
}

/** @param signKey signs the keys of subtitles where the instance is private */
const toItem = ({ resource, rendition }: KeyedRendition, signKey: SignKey): schema.StreamedItem => ({
  title: resource.title,
  author: resource.author,
  durationSeconds: resource.durationSeconds ?? null,
  isLive: resource.isLive,
  hasCover: resource.coverUrl !== null,
  hasStoryboard: mayHaveStoryboard(resource),
  mimeType: rendition.mimeType,
  subtitles: (resource.subtitles ?? []).map(({ id, language, name = null, isAutomatic }) => {
    return { key: signKey(keyOf(resource.id, id)), language, name, isAutomatic };
  }),
});
