import { createProblem, getOperation, operations, type Problem, problems, toProblem } from '../../core/api/index.ts';
import { hasKey, type State } from '../../core/state/index.ts';
import { createNotFound } from '../api/index.ts';
import { createHandler, type Event, type Handler, type HandlerOptions } from '../middleware/index.ts';
import { HostUnavailable } from './stream-tasks.ts';
import type { WakeHost } from './wake-host.ts';
import type { WakePlan } from './wake-plan.ts';

export interface WakeOnStreamOptions extends Omit<HandlerOptions, 'toProblem'> {
  readonly state: Pick<State, 'getResource' | 'getArchivedList'>;
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

/**
 * Answers stream requests while no host serves them. An existing key wakes the host, and is answered 503 with what the
 * client waits for; anything else is 404 and starts nothing.
 */
export function createWakeOnStream({ state, wakeHost, ...options }: WakeOnStreamOptions): Handler {
  const answer = async ({ rawPath }: Event): Promise<never> => {
    if (!(await hasKey(keyOfPath(rawPath) ?? '', state))) throw problems.notFound();
    throw describeWait(await wakeHost());
  };
  const onStream = createHandler(
    { ...options, methods: getOperation('Media').methods, toProblem: toHostProblem },
    answer,
  );
  const onOther = createNotFound(options);
  return (event, context) => (keyOfPath(event.rawPath) === undefined ? onOther : onStream)(event, context);
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
