import {
  createProblem,
  EVENT_STREAM_HEADERS,
  operationsById,
  type Problem,
  parseJobId,
  problems,
  progressEvent,
  reconnectLines,
  routes,
  UNKNOWN_JOB_MS,
  waitingSince,
} from '../../core/api/index.ts';
import { ACCESS_HEADER, type HostEvent, ownJobId } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { type ArchiveProgress, hasKey, NO_PROGRESS, type State } from '../../core/state/index.ts';
import {
  createHandler,
  createNotFound,
  type Event,
  type Handler,
  type HandlerOptions,
  type HttpMiddleware,
  headerOf,
  type Result,
  refuseCrossSite,
} from '../http-handler.ts';
import type { Invoker } from '../invoker.ts';
import type { HostActivity, HostService } from './host.ts';

interface WakeOnStreamOptions extends HandlerOptions {
  readonly state: Pick<State, 'getResource' | 'getArchivedList' | 'getArchiveProgress'>;
  readonly service: Pick<HostService, 'wake'>;
}

const streamPaths = routes
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

const NEVER_BEGUN: ArchiveProgress = { ...NO_PROGRESS, state: 'failed' };

/**
 * Answers stream requests while no host serves them. An existing key wakes the host, and is answered 503 with what the
 * client waits for; anything else is 404 and starts nothing. The progress of an archive is what the table has: the client asks
 * again until the host serves it.
 */
export function createWakeOnStream({ state, service, ...options }: WakeOnStreamOptions): Handler {
  const answer = async (event: Event): Promise<never> => {
    refuseCrossSite(event, options);
    if (!(await hasKey(keyOfPath(event.rawPath) ?? '', state))) throw problems.notFound();
    throw describeWait(await service.wake().catch(refuse));
  };
  const onStream = createHandler({ ...options, methods: operationsById.Media.methods }, answer);
  const onProgress = createHandler({ ...options, methods: PROGRESS.methods }, (event) => {
    refuseCrossSite(event, options);
    return answerProgress(event, state);
  });
  const onOther = createNotFound(options);
  return (event, context) => {
    if (jobIdOfPath(event.rawPath)) return onProgress(event, context);
    return (keyOfPath(event.rawPath) === undefined ? onOther : onStream)(event, context);
  };
}

async function answerProgress(event: Event, state: WakeOnStreamOptions['state']): Promise<Result> {
  const jobId = parseJobId(jobIdOfPath(event.rawPath) ?? '');
  const since = waitingSince(headerOf(event, 'last-event-id'), Date.now());
  const isOver = Date.now() - since >= UNKNOWN_JOB_MS;
  const progress =
    (await state.getArchiveProgress(ownJobId(jobId, headerOf(event, ACCESS_HEADER)))) ??
    (isOver ? NEVER_BEGUN : undefined);
  const body = reconnectLines(since) + (progress ? progressEvent(progress) : '');
  return { statusCode: 200, headers: { ...EVENT_STREAM_HEADERS }, body };
}

/** Seconds until the client is to ask again. A task takes 25 to 45, by what AWS says of each step: network, image, start, registration. */
const RETRY_AFTER: Readonly<Record<HostActivity, number>> = { woken: 25, starting: 5, running: 5 };

/** The 503 that tells the client why no host serves the stream yet, and when to retry. */
function describeWait(activity: HostActivity): Problem {
  const detail = 'The stream host starts when it is needed, which takes about half a minute. Try again then.';
  const title = activity === 'running' ? 'Registering the stream host' : 'Starting the stream host';
  return createProblem('starting', { title, detail, retryAfterSeconds: RETRY_AFTER[activity] });
}

function refuse(cause: unknown): never {
  const detail = 'AWS cannot start the stream host at the moment. Try again soon.';
  throw createProblem('starting', { title: 'No Stream Host Available', detail, retryAfterSeconds: 15, cause });
}

interface WakeAheadOptions {
  readonly wakeFunction: string;
  readonly invoker: Pick<Invoker, 'invokeAsync'>;
  readonly log: Log;
}

const [FEED_PATH, MCP_PATH] = [operationsById.Feed, operationsById.Mcp].map(({ path }) => path.toLowerCase());

/** Whether no stream follows: clients read a feed every hour, and greet by MCP at each of their starts. */
function isIdle({ rawPath, body = '' }: Event): boolean {
  const path = rawPath.toLowerCase();
  return path === FEED_PATH || (path === MCP_PATH && !body.includes('"tools/call"'));
}

const WAKE_AHEAD: HostEvent = { kind: 'ahead' };

/** A task takes about this long to start: further wake-ups meanwhile would change nothing. */
const MIN_INTERVAL_MS = 30_000;
/** Delay that a response accepts for the wake-up. */
const INVOKE_TIMEOUT_MS = 2_000;

/**
 * Wakes the stream host after each successful resolve and each redirect to a stream, since a stream usually follows. A failure
 * is only logged.
 */
export function wakeAhead({ wakeFunction, invoker, log }: WakeAheadOptions): HttpMiddleware {
  let nextWakeAt = 0;
  return {
    after: async ({ event, response }) => {
      const isResolved = response?.statusCode === 200 || response?.statusCode === 302;
      if (!isResolved || isIdle(event) || performance.now() < nextWakeAt) return;
      nextWakeAt = performance.now() + MIN_INTERVAL_MS;
      await invoker.invokeAsync(wakeFunction, WAKE_AHEAD, AbortSignal.timeout(INVOKE_TIMEOUT_MS)).catch((error) => {
        nextWakeAt = 0;
        log.warn('Failed to invoke the wake function', { error });
      });
    },
  };
}
