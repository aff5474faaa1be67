import { randomBytes, randomUUID } from 'node:crypto';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import { HostUnavailable, type StartHost, type StreamTasks } from './stream-tasks.ts';
import { planWake, startingSince, type WakePlan } from './wake-plan.ts';

export interface WakeHostOptions {
  readonly state: Pick<State, 'getStreamTask' | 'takeStreamTask' | 'endStreamTask'>;
  readonly tasks: Pick<StreamTasks, 'list'>;
  readonly startHost: StartHost;
  /** ARN of the revision of the task definition that hosts are started from. */
  readonly definition: string;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/**
 * Starts one stream host where none runs, and returns what the client has to wait for. Concurrent calls start one host.
 * @throws HostUnavailable, StateUnavailable
 */
export type WakeHost = () => Promise<WakePlan>;

/** Lease while RunTask is called, and once ECS has accepted the task: other calls start none meanwhile. */
const ORDER_LEASE_SECONDS = 60;
const START_LEASE_SECONDS = 300;
const SECRET_BYTES = 32;

export function createWakeHost(options: WakeHostOptions): WakeHost {
  const { state, tasks, startHost, definition, log, now = Date.now } = options;
  const nowSeconds = () => Math.floor(now() / 1000);

  const endLease = (owner: string) =>
    state.endStreamTask(owner).catch((error) => log.warn('Failed to release lease', { error }));

  const start = async ({ from, stopped }: Extract<WakePlan, { kind: 'start' }>): Promise<WakePlan> => {
    const startedAt = nowSeconds();
    const owner = randomUUID();
    const lease = { owner, startedAt, expiresAt: startedAt + ORDER_LEASE_SECONDS };
    if (!(await state.takeStreamTask(lease, from))) return startingSince(startedAt, startedAt);
    if (stopped) log.warn('Replacing a stopped stream host', { task: stopped.arn, reason: stopped.stopReason });
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const taskArn = await startHost({ token: owner, secret }).catch(async (error: unknown) => {
      // When ECS may have started the task after all, the lease prevents a second one until ECS lists it.
      if (!(error instanceof HostUnavailable) || error.refused) await endLease(owner);
      throw error;
    });
    log.info('Starting stream host', { task: taskArn });
    // If this fails the lease expires sooner, when ECS lists the task by itself.
    await state
      .takeStreamTask({ ...lease, taskArn, expiresAt: startedAt + START_LEASE_SECONDS })
      .catch((error) => log.warn('Failed to extend lease', { error }));
    return startingSince(startedAt, startedAt);
  };

  return async () => {
    const lease = await state.getStreamTask();
    const known = await tasks.list('RUNNING', lease?.taskArn === undefined ? [] : [lease.taskArn]);
    const plan = planWake({ lease, tasks: known, definition, now: nowSeconds() });
    return plan.kind === 'start' ? start(plan) : plan;
  };
}
