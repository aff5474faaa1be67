import type { SkipSegment } from '@reelay/seekable-media/parts/skipping';
import type { FastifyInstance } from 'fastify';
import type { Schema } from '../../core/api/index.ts';
import { mergeVary, renderJson } from '../../core/http/index.ts';
import type { KeyLookup } from '../../core/state/index.ts';
import type { SkipSegments } from '../sponsorblock.ts';

/**
 * GET and HEAD of the segments of an item, as JSON: it opens no source and counts as no stream.
 * @param path in Fastify's syntax
 */
export function segmentsRoute(
  app: FastifyInstance,
  path: string,
  find: Pick<KeyLookup, 'rendition'>,
  segments: Pick<SkipSegments, 'list'>,
): void {
  app.route<{ Params: { key: string } }>({
    method: ['GET', 'HEAD'],
    url: path,
    handler: async (request, reply) => {
      const { resource } = await find.rendition(request.params.key);
      const { headers, body } = renderJson(toSegments(await segments.list(resource)), request.headers.accept);
      const vary = mergeVary(reply.getHeader('vary')?.toString(), headers.vary);
      return reply.headers({ 'cache-control': 'no-store', ...headers, vary }).send(body);
    },
  });
}

const toSegments = (segments: readonly SkipSegment[]): Schema<'SkipSegments'> => ({
  segments: segments
    .map(({ category, startSeconds, endSeconds }) => ({ category, startSeconds, endSeconds }))
    .sort((a, b) => a.startSeconds - b.startSeconds),
});
