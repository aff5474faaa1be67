import { randomBytes, randomUUID } from 'node:crypto';
import { Problem, problems } from '../../core/api/index.ts';
import { StateUnavailable } from '../../core/errors/index.ts';
import { findByKey, type Rendition, type State } from '../../core/state/index.ts';
import { createNotFound } from '../api/index.ts';
import { createHandler, type Event, type HandlerOptions, type Result } from '../middleware/index.ts';
import { methodsOf } from '../runtime/index.ts';
import { HostUnavailable } from './host-unavailable.ts';
import type { StartHost, StreamTasks } from './stream-tasks.ts';
import { comingSince, planWake, type WakePlan } from './wake-plan.ts';

export interface WakeOptions extends Omit<HandlerOptions, 'methods'> {
  readonly state: Pick<State, 'getResource' | 'getStreamTask' | 'takeStreamTask' | 'endStreamTask'>;
  readonly tasks: Pick<StreamTasks, 'list'>;
  readonly startHost: StartHost;
  /** ARN of the revision of the task definition that hosts are started by. */
  readonly definition: string;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** Wakes ahead of the first stream: somebody has just been given keys. */
export interface AheadEvent {
  readonly kind: 'ahead';
}

const STREAM_PATH = /^\/api\/stream\/(media|combined)\/([^/]+)$/i;

/** Seconds that placing an order may take, and that an order placed keeps others from placing one. */
const ORDER_SECONDS = 60;
const START_LEASE_SECONDS = 300;

/**
 * Answers streams while no host does. A key that exists starts one host, however many ask at once, and is answered 503
 * with what is going on; any other is 404 and starts nothing.
 */
export function createWake({ state, tasks, startHost, definition, now = Date.now, ...options }: WakeOptions) {
  const seconds = () => Math.floor(now() / 1000);

  const order = async ({ from, dead }: Extract<WakePlan, { kind: 'start' }>): Promise<WakePlan> => {
    const startedAt = seconds();
    const owner = randomUUID();
    const lease = { owner, startedAt, expiresAt: startedAt + ORDER_SECONDS };
    if (!(await state.takeStreamTask(lease, from))) return comingSince(startedAt, startedAt);
    if (dead) options.log.warn('A stream host has died and is replaced', { task: dead.arn, reason: dead.stopReason });
    const taskArn = await startHost({ token: owner, secret: randomBytes(32).toString('base64url') }).catch(
      async (error: unknown) => {
        // Where ECS may have started one after all, the lease keeps others from starting a second until that shows.
        if (!(error instanceof HostUnavailable) || error.refused) await giveBack(owner);
        throw error;
      },
    );
    options.log.info('A stream host starts', { task: taskArn });
    // Without this the lease runs out sooner, when ECS lists the task by itself.
    await state
      .takeStreamTask({ ...lease, taskArn, expiresAt: startedAt + START_LEASE_SECONDS })
      .catch((error) => options.log.warn('The lease could not be kept', { error: String(error) }));
    return comingSince(startedAt, startedAt);
  };
  const giveBack = (owner: string) =>
    state
      .endStreamTask(owner)
      .catch((error) => options.log.warn('The lease could not be given back', { error: String(error) }));

  const wake = async (): Promise<WakePlan> => {
    const lease = await state.getStreamTask();
    const known = await tasks.list('RUNNING', lease?.taskArn === undefined ? [] : [lease.taskArn]);
    const plan = planWake({ lease, tasks: known, definition, now: seconds() });
    return plan.kind === 'start' ? order(plan) : plan;
  };

  const answer = async ({ rawPath }: Event): Promise<never> => {
    const [, endpoint = '', key = ''] = STREAM_PATH.exec(rawPath) ?? [];
    const urlType: Rendition['urlType'] = endpoint.toLowerCase() === 'media' ? 'Media' : 'Combined';
    if (!(await findByKey(key, urlType, state.getResource).catch(worded))) throw problems.notFound();
    throw toProblem(await wake().catch(worded));
  };

  const onStream = createHandler({ ...options, methods: methodsOf('Media') }, answer);
  const onOther = createNotFound(options);
  return async (event: Event | AheadEvent, context: never): Promise<Result | { readonly woken: string }> => {
    if (!('kind' in event)) return (STREAM_PATH.test(event.rawPath) ? onStream : onOther)(event, context);
    const plan = await wake().catch((error: unknown) => {
      if (!(error instanceof HostUnavailable)) throw error;
      // The stream itself will ask again.
      options.log.warn('No stream host could be started ahead', { error: String(error) });
      return { kind: 'refused' } as const;
    });
    return { woken: plan.kind };
  };
}

/** @throws Problem where the failure has an answer of its own, else the failure */
function worded(error: unknown): never {
  if (error instanceof HostUnavailable) throw error.toProblem();
  throw error instanceof StateUnavailable ? problems.fetchFailed(error) : error;
}

function toProblem(plan: WakePlan): Problem {
  if (plan.kind !== 'coming') {
    // Which of the two cannot be seen from here.
    const { details, headers } = problems.noCapacity();
    return new Problem({ ...details, detail: 'The stream host is full, or does not answer. Try again soon.' }, headers);
  }
  const detail = 'The stream host starts when it is needed, which takes about a minute. Try again then.';
  return new Problem({ title: plan.title, status: 503, detail }, { 'retry-after': String(plan.retryAfter) });
}
