import { operationsById, problems, readSelection, writeSelection } from '../../core/api/index.ts';
import { selectQuality, toArchivedList, toChapterList } from '../../core/resolve/index.ts';
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
  return createHandler({ ...options, methods: operationsById.Get.methods }, async (event, context) => {
    const selection = readSelection('Get', new URLSearchParams(event.rawQueryString));
    const { entries, isArchive, isSplit, window, bitrateKbps } = selection;
    const { resolved, sent } = await resolveRequest(event, context);
    if (isArchive) {
      const list = isSplit
        ? toChapterList(singleResource(resolved), sent, entries)
        : toArchivedList(resolved, sent, { selected: entries });
      const key = await storeArchive(options.state, list);
      return redirect('Archive', signKeyFor(event)(key), writeSelection('Archive', selection));
    }
    const resource = singleResource(resolved);
    const selected = selectQuality(resource, selection);
    if (!selected) throw problems.notFound();
    if (window && !resource.isLive)
      throw problems.badRequest('start before now or at a time of day applies to live streams only');
    const key = keyOf(resource.id, selected.rendition.id);
    const format = selection.format ?? selected.format ?? (bitrateKbps && 'mp3');
    // The stream service answers both kinds of renditions under Media, which has length and ranges where that is possible.
    return redirect('Media', signKeyFor(event)(key), writeSelection('Media', { ...selection, format }));
  });
};

/** Redirects to a stream. @param key signed where the instance is private */
export function redirect(
  operationId: 'Media' | 'Archive' | 'Subtitle',
  key: string,
  query: URLSearchParams = new URLSearchParams(),
): Result {
  const path = operationsById[operationId].path.replace('{key}', key);
  const location = query.size > 0 ? `${path}?${query}` : path;
  // The same link may select another rendition, or another key, tomorrow.
  return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
}
