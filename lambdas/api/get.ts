import { getOperation, parseQualityParameters, problems } from '../../core/api/index.ts';
import { selectQuality } from '../../core/resolve/index.ts';
import { keyOf } from '../../core/state/index.ts';
import { createHandler, type Handler } from '../middleware/index.ts';
import { createResolveRequest, type ResolveOptions, singleResource } from './resolve-request.ts';

/** GET /api/Get: redirects to the stream of one rendition of a link. */
export const createGet = (options: ResolveOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  return createHandler(options, async (event, context) => {
    const { format, clip, ...wanted } = parseQualityParameters(event.rawQueryString);
    const { resolved } = await resolveRequest(event, context);
    const resource = singleResource(resolved);
    const selected = selectQuality(resource, wanted);
    if (!selected) throw problems.notFound();
    const key = keyOf(resource.id, selected.rendition.id);
    const query = new URLSearchParams({ ...withFormat(format ?? selected.format), ...clip });
    // The stream service answers both kinds of renditions under Media, which has length and ranges where that is possible.
    const path = getOperation('Media').path.replace('{key}', key);
    const location = query.size > 0 ? `${path}?${query}` : path;
    // The same link may select another rendition, or another key, tomorrow.
    return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
  });
};

const withFormat = (format: string | undefined) => (format ? { format } : undefined);
