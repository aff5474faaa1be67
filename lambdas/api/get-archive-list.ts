import { operationsById, Problem, problems, readSelection, toProblem, writeSelection } from '../../core/api/index.ts';
import { ACCESS_HEADER, ownJobId } from '../../core/http/index.ts';
import { toArchivedList } from '../../core/resolve/index.ts';
import type { ArchiveProgress, State } from '../../core/state/index.ts';
import { createHandler, type Handler, headerOf, signKeyFor } from '../middleware/index.ts';
import { storeArchive } from './archive-list.ts';
import { redirect } from './get.ts';
import { createResolveRequest, type ResolveOptions } from './resolve-request.ts';

export interface GetArchiveListOptions extends ResolveOptions {
  readonly state: ResolveOptions['state'] & Pick<State, 'putArchivedList' | 'putArchiveProgress'>;
}

/** What says of a link that there is no list to read: 415 and 502 are no statuses of this operation. */
const UNREADABLE = [404, 415, 502];

/**
 * GET /api/Stream/Archive: redirects to the archive of the sound of a list. The job of the client begins here, since its stream
 * may start late, and ends here where there is none.
 */
export const createGetArchiveList = (options: GetArchiveListOptions): Handler => {
  const { state, log } = options;
  const resolveRequest = createResolveRequest(options);
  return createHandler({ ...options, methods: operationsById.ArchiveList.methods }, async (event, context) => {
    const { jobId } = readSelection('ArchiveList', new URLSearchParams(event.rawQueryString));
    const report = async (progress: Pick<ArchiveProgress, 'state' | 'total'>) => {
      if (jobId === undefined || event.requestContext.http.method !== 'GET') return;
      await state
        .putArchiveProgress(ownJobId(jobId, headerOf(event, ACCESS_HEADER)), {
          completed: 0,
          current: null,
          skipped: 0,
          ...progress,
        })
        .catch((error) => log.warn('Failed to store the progress of an archive', { error }));
    };
    try {
      const { resolved, sent } = await resolveRequest(event, context);
      if (resolved.type === 'Media')
        throw problems.badRequest('The link is a single item. Use Get for its stream, or the link of a list.');
      const key = await storeArchive(state, toArchivedList(resolved, sent));
      await report({ state: 'building', total: resolved.items.length });
      return redirect('Archive', signKeyFor(event)(key), writeSelection('Archive', { quality: 'audio', jobId }));
    } catch (error) {
      await report({ state: 'failed', total: 0 });
      throw asUnreadable(toProblem(error));
    }
  });
};

function asUnreadable(problem: Problem): Problem {
  const { details, headers, cause } = problem;
  if (!UNREADABLE.includes(details.status)) return problem;
  const { title, status } = problems.notFound().details;
  return new Problem({ ...details, title, status }, headers, { cause });
}
