import { problems, readSelection, type Selection, streamPath } from '../../core/api/index.ts';
import { NotDeliverable } from '../../core/errors/index.ts';
import { describeSmallest, selectQuality, toArchivedList, toChapterList } from '../../core/resolve/index.ts';
import { type ArchivedList, ItemTooLarge, keyOf, type State } from '../../core/state/index.ts';
import { type Answer, type Event, type Result, signKeyFor } from '../middleware/index.ts';
import { type Resolving, singleResource } from './resolve-request.ts';

export interface GetOptions extends Resolving {
  readonly state: Pick<State, 'putArchivedList'>;
}

/** GET /api/Get: redirects to the stream of one rendition of a link, or to the archive of a list. */
export const createGet =
  ({ resolveRequest, state }: GetOptions): Answer =>
  async (event, context) => {
    const selection = readSelection('Get', new URLSearchParams(event.rawQueryString));
    const { entries, isArchive, isSplit, window, maxBytes } = selection;
    const { resolved, sent } = await resolveRequest(event, context);
    if (isArchive) {
      const list = isSplit
        ? toChapterList(singleResource(resolved), sent, entries)
        : toArchivedList(resolved, sent, { selected: entries });
      return redirectToArchive(event, state, list, selection);
    }
    const resource = singleResource(resolved);
    const selected = selectQuality(resource, selection);
    if (!selected) {
      const smallest = maxBytes === undefined ? undefined : describeSmallest(resource, selection);
      throw problems.notFound(undefined, smallest && `Nothing fits into maxBytes. ${smallest}.`);
    }
    if (window && !resource.isLive)
      throw problems.badRequest('start before now or at a time of day applies to live streams only');
    const { rendition, ...converted } = selected;
    // The stream service answers both kinds of renditions under Media, which has length and ranges where that is possible.
    return redirect(event, 'Media', keyOf(resource.id, rendition.id), { ...selection, ...converted });
  };

/** Redirects to a stream, by a key that is signed where the instance is private. */
export const redirect = (
  event: Event,
  operationId: 'Media' | 'Archive' | 'Subtitle',
  key: string,
  selection?: Selection,
): Result => ({
  statusCode: 302,
  headers: {
    location: streamPath(operationId, signKeyFor(event)(key), selection),
    // The same link may select another rendition, or another key, tomorrow.
    'cache-control': 'no-store',
  },
});

/**
 * Stores a list, so that the stream service finds it by the key of the archive, and redirects there.
 * @throws NotDeliverable for one too long to store, StorageFull
 */
export async function redirectToArchive(
  event: Event,
  state: GetOptions['state'],
  list: ArchivedList,
  selection: Selection,
): Promise<Result> {
  await state.putArchivedList(list).catch((cause) => {
    if (cause instanceof ItemTooLarge)
      throw new NotDeliverable('The list is too long for an archive.', { cause, reason: 'too-large' });
    throw cause;
  });
  return redirect(event, 'Archive', list.id, selection);
}
