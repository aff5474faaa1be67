import { Problem, problems, readSelection, type Selection, streamPath, toProblem } from '../../core/api/index.ts';
import { NotDeliverable } from '../../core/errors/index.ts';
import { ACCESS_HEADER, ownJobId } from '../../core/http/index.ts';
import { describeSmallest, selectQuality, toArchivedList, toChapterList } from '../../core/resolve/index.ts';
import {
  type ArchivedList,
  type ArchiveProgress,
  ItemTooLarge,
  keyOf,
  NO_PROGRESS,
  type State,
} from '../../core/state/index.ts';
import {
  type Event,
  type HandlerOptions,
  headerOf,
  type OperationHandler,
  type Result,
  signKeyFor,
} from '../http-handler.ts';
import { type ResolveDependencies, resolveFew, singleResource } from './resolve-request.ts';

export interface GetOptions extends ResolveDependencies {
  readonly state: Pick<State, 'putArchivedList'>;
}

/** GET /api/Get: redirects to the stream of one rendition of a link, or to the archive of a list. */
export const createGet =
  ({ resolveRequest, state }: GetOptions): OperationHandler =>
  async (event, context) => {
    const selection = readSelection('Get', new URLSearchParams(event.rawQueryString));
    const { entries, isArchive, isSplit, window, maxBytes, offset } = selection;
    const ahead = isArchive ? resolveFew(entries) : undefined;
    const { resolved, sent } = await resolveRequest(event, context, { offset, ahead });
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
async function redirectToArchive(
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

export interface GetArchiveListOptions extends GetOptions, Pick<HandlerOptions, 'log'> {
  readonly state: GetOptions['state'] & Pick<State, 'putArchiveProgress'>;
}

/** What says of a link that there is no list to read: 415 and 502 are no statuses of this operation. */
const UNREADABLE = [404, 415, 502];

/**
 * GET /api/Stream/Archive: redirects to the archive of the sound of a list. The job of the client begins here, since its stream
 * may start late, and ends here where there is none.
 */
export const createGetArchiveList =
  ({ resolveRequest, state, log }: GetArchiveListOptions): OperationHandler =>
  async (event, context) => {
    const { jobId, offset } = readSelection('ArchiveList', new URLSearchParams(event.rawQueryString));
    const report = async (progress: Partial<ArchiveProgress>) => {
      if (jobId === undefined || event.requestContext.http.method !== 'GET') return;
      await state
        .putArchiveProgress(ownJobId(jobId, headerOf(event, ACCESS_HEADER)), { ...NO_PROGRESS, ...progress })
        .catch((error) => log.warn('Failed to store the progress of an archive', { error }));
    };
    try {
      const { resolved, sent } = await resolveRequest(event, context, { offset, ahead: resolveFew() });
      if (resolved.type === 'Media')
        throw problems.badRequest('The link is a single item. Use Get for its stream, or the link of a list.');
      const list = toArchivedList(resolved, sent);
      const answer = await redirectToArchive(event, state, list, { quality: 'audio', jobId });
      await report({ total: resolved.items.length });
      return answer;
    } catch (error) {
      await report({ state: 'failed' });
      throw asUnreadable(toProblem(error));
    }
  };

function asUnreadable(problem: Problem): Problem {
  const { details, headers, cause } = problem;
  if (!UNREADABLE.includes(details.status)) return problem;
  const { title, status } = problems.notFound().details;
  return new Problem({ ...details, title, status }, headers, { cause });
}
