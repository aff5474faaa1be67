import {
  createProblem,
  EVENT_STREAM_HEADERS,
  operations,
  operationsById,
  type Problem,
  parseJobId,
  problems,
  progressEvent,
  reconnectLines,
  toProblem,
  UNKNOWN_JOB_MS,
  waitingSince,
} from '../../core/api/index.ts';
import { ACCESS_HEADER, ownJobId } from '../../core/http/index.ts';
import { type ArchiveProgress, hasKey, type State } from '../../core/state/index.ts';
import { createNotFound } from '../api/index.ts';
import {
  createHandler,
  type Event,
  type Handler,
  type HandlerOptions,
  headerOf,
  type Result,
} from '../middleware/index.ts';
import { HostUnavailable } from './stream-tasks.ts';
import type { WakeHost } from './wake-host.ts';
import type { WakePlan } from './wake-plan.ts';

export interface WakeOnStreamOptions extends Omit<HandlerOptions, 'toProblem'> {
  readonly state: Pick<State, 'getResource' | 'getArchivedList' | 'getArchiveProgress'>;
  readonly wakeHost: WakeHost;
}

const streamPaths = operations
  .filter(({ servedBy }) => servedBy === 'stream-service')
  .map(({ path }) => {
    const pattern = path
      .replaceAll('.', '\\.')
      .replace('{key}', '(?<key>[^/]+)')
      .replace(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`, 'i');
  });

/** The key in a path of the stream service; undefined for other paths. */
const keyOfPath = (path: string): string | undefined =>
  streamPaths.map((pattern) => pattern.exec(path)?.groups?.key).find((key) => key !== undefined);

const PROGRESS = operationsById.ArchiveProgress;
const PROGRESS_PREFIX = PROGRESS.path.replace(/\{.*/, '').toLowerCase();

/** The id of a job in the path of its progress; undefined for other paths. */
const jobIdOfPath = (path: string): string | undefined =>
  path.toLowerCase().startsWith(PROGRESS_PREFIX) ? path.slice(PROGRESS_PREFIX.length) : undefined;

const NEVER_BEGUN: ArchiveProgress = { state: 'failed', total: 0, completed: 0, current: null, skipped: 0 };

/**
 * Answers stream requests while no host serves them. An existing key wakes the host, and is answered 503 with what the
 * client waits for; anything else is 404 and starts nothing. The progress of an archive is what the table has: the client asks
 * again until the host serves it.
 */
export function createWakeOnStream({ state, wakeHost, ...options }: WakeOnStreamOptions): Handler {
  const answer = async ({ rawPath }: Event): Promise<never> => {
    if (!(await hasKey(keyOfPath(rawPath) ?? '', state))) throw problems.notFound();
    throw describeWait(await wakeHost());
  };
  const onStream = createHandler(
    { ...options, methods: operationsById.Media.methods, toProblem: toHostProblem },
    answer,
  );
  const onProgress = createHandler({ ...options, methods: PROGRESS.methods }, (event) => answerProgress(event, state));
  const onOther = createNotFound(options);
  return (event, context) => {
    if (jobIdOfPath(event.rawPath)) return onProgress(event, context);
    return (keyOfPath(event.rawPath) === undefined ? onOther : onStream)(event, context);
  };
}

async function answerProgress(event: Event, state: WakeOnStreamOptions['state']): Promise<Result> {
  const jobId = parseJobId(jobIdOfPath(event.rawPath));
  if (jobId === undefined) throw problems.notFound();
  const since = waitingSince(headerOf(event, 'last-event-id'), Date.now());
  const isOver = Date.now() - since >= UNKNOWN_JOB_MS;
  const progress =
    (await state.getArchiveProgress(ownJobId(jobId, headerOf(event, ACCESS_HEADER)))) ??
    (isOver ? NEVER_BEGUN : undefined);
  const body = reconnectLines(since) + (progress ? progressEvent(progress) : '');
  return { statusCode: 200, headers: { ...EVENT_STREAM_HEADERS }, body };
}

/** The 503 that tells the client why no host serves the stream yet, and when to retry. */
function describeWait(plan: WakePlan): Problem {
  if (plan.kind !== 'coming') {
    // A host runs, but the edge was refused or not answered by it; which of the two is not known here.
    const detail = 'The stream host is full, or does not answer. Try again soon.';
    return createProblem('busy', { detail, retryAfterSeconds: 10 });
  }
  const detail = 'The stream host starts when it is needed, which takes about a minute. Try again then.';
  return createProblem('starting', { title: plan.title, detail, retryAfterSeconds: plan.retryAfterSeconds });
}

/** HostUnavailable as a 503 of its own; every other failure as in all functions. */
function toHostProblem(error: unknown): Problem {
  if (!(error instanceof HostUnavailable)) return toProblem(error);
  const detail = 'AWS cannot start the stream host at the moment. Try again soon.';
  const { retryAfterSeconds } = error;
  return createProblem('starting', { title: 'No Stream Host Available', detail, retryAfterSeconds, cause: error });
}
