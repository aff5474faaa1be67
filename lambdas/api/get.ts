import { getOperation, parseQualityParameters, problems } from '../../core/api/index.ts';
import { selectQuality } from '../../core/resolve/index.ts';
import { keyOf, type State } from '../../core/state/index.ts';
import { createHandler, type Handler, type Result, signKeyFor } from '../middleware/index.ts';
import { storeArchive } from './archive-list.ts';
import { createResolveRequest, type ResolveOptions, singleResource } from './resolve-request.ts';

export interface GetOptions extends ResolveOptions {
  readonly state: ResolveOptions['state'] & Pick<State, 'putArchivedList'>;
}

/** GET /api/Get: redirects to the stream of one rendition of a link, or to the archive of a list. */
export const createGet = (options: GetOptions): Handler => {
  const resolveRequest = createResolveRequest(options);
  return createHandler(options, async (event, context) => {
    const { format, archive, options: streamOptions, ...wanted } = parseQualityParameters(event.rawQueryString);
    const { resolved, sent } = await resolveRequest(event, context);
    if (archive) {
      const key = await storeArchive(options.state, resolved, sent);
      return redirect('Archive', signKeyFor(event)(key), archiveQuery(event.rawQueryString));
    }
    const resource = singleResource(resolved);
    const selected = selectQuality(resource, wanted);
    if (!selected) throw problems.notFound();
    const key = keyOf(resource.id, selected.rendition.id);
    const query = new URLSearchParams({ ...withFormat(format ?? selected.format), ...streamOptions });
    // The stream service answers both kinds of renditions under Media, which has length and ranges where that is possible.
    return redirect('Media', signKeyFor(event)(key), query);
  });
};

function redirect(operationId: 'Media' | 'Archive', key: string, query: URLSearchParams): Result {
  const path = getOperation(operationId).path.replace('{key}', key);
  const location = query.size > 0 ? `${path}?${query}` : path;
  // The same link may select another rendition, or another key, tomorrow.
  return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
}

/** The parameters of Get that Archive has too, each with its first value. */
function archiveQuery(rawQuery: string): URLSearchParams {
  const sent = new URLSearchParams(rawQuery);
  const query = new URLSearchParams();
  for (const { name } of getOperation('Archive').parameters) {
    const value = sent.get(name)?.trim();
    if (value) query.set(name, value);
  }
  return query;
}

const withFormat = (format: string | undefined) => (format ? { format } : undefined);
