import { Problem, problems, readSelection, toProblem } from '../../core/api/index.ts';
import { ACCESS_HEADER, ownJobId } from '../../core/http/index.ts';
import { toArchivedList } from '../../core/resolve/index.ts';
import { type ArchiveProgress, NO_PROGRESS, type State } from '../../core/state/index.ts';
import { type Answer, type HandlerOptions, headerOf } from '../middleware/index.ts';
import { type GetOptions, redirectToArchive } from './get.ts';

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
  ({ resolveRequest, state, log }: GetArchiveListOptions): Answer =>
  async (event, context) => {
    const { jobId } = readSelection('ArchiveList', new URLSearchParams(event.rawQueryString));
    const report = async (progress: Partial<ArchiveProgress>) => {
      if (jobId === undefined || event.requestContext.http.method !== 'GET') return;
      await state
        .putArchiveProgress(ownJobId(jobId, headerOf(event, ACCESS_HEADER)), { ...NO_PROGRESS, ...progress })
        .catch((error) => log.warn('Failed to store the progress of an archive', { error }));
    };
    try {
      const { resolved, sent } = await resolveRequest(event, context);
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
