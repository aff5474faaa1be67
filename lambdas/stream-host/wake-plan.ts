import type { StreamTaskLease } from '../../core/state/index.ts';
import { type HostTask, isOutdated } from './host-task.ts';

/** What a wake-up decides on. */
export interface WakeState {
  /** The lease in force. */
  readonly lease: StreamTaskLease | undefined;
  /** Every task whose desired status is RUNNING, and the one that the lease names. */
  readonly tasks: readonly HostTask[];
  /** ARN of the deployed revision of the task definition. */
  readonly definition: string;
  /** Epoch seconds. */
  readonly now: number;
}

/**
 * `start`: order a host, taking over the lease of `from`, and replacing `stopped`, if given. `coming`: a host will serve
 * soon. `serving`: a host has been serving for a while.
 */
export type WakePlan =
  | { readonly kind: 'start'; readonly from?: string; readonly stopped?: HostTask }
  | { readonly kind: 'coming'; readonly title: string; readonly retryAfterSeconds: number }
  | { readonly kind: 'serving' };

/** Usual time from RunTask until a host serves: network, image, start, registration. */
const START_SECONDS = 45;
/** Time until the name of a new host has reached every edge location. */
const PROPAGATION_SECONDS = 60;
/** Time in which ECS may not list a task yet that it has accepted (its reads are eventually consistent). */
const ECS_CONSISTENCY_SECONDS = 30;
const MIN_RETRY_AFTER_SECONDS = 5;

/**
 * Whether the only host runs an outdated revision and no successor has been ordered. A successor that stopped is not
 * replaced before its lease expires: the old host serves meanwhile.
 */
function needsSuccessor({ lease, tasks, definition }: WakeState): boolean {
  const [host, ...others] = tasks.filter(({ stage }) => stage !== 'ending' && stage !== 'stopped');
  if (host?.stage !== 'running' || others.length > 0 || !isOutdated(host, definition)) return false;
  return lease === undefined || lease.taskArn === host.arn;
}

/**
 * One host at a time: starts one where none runs or starts, replaces one that stopped, and starts the successor of one
 * that is outdated. A request that arrives although a host has been serving for a while was refused by that host.
 */
export function planWake(state: WakeState): WakePlan {
  const { lease, tasks, now } = state;
  if (needsSuccessor(state)) return { kind: 'start', from: lease?.owner };
  const running = tasks.filter(({ stage }) => stage === 'running');
  if (running.some(({ runningSince = now }) => now - runningSince >= PROPAGATION_SECONDS)) return { kind: 'serving' };
  if (running.length > 0)
    return { kind: 'coming', title: 'Registering the stream host', retryAfterSeconds: MIN_RETRY_AFTER_SECONDS };
  const [starting] = tasks.filter(({ stage }) => stage === 'starting');
  if (starting) return startingSince(starting.createdAt, now);
  if (!lease) return { kind: 'start' };
  // The owner of the lease is calling RunTask, or was killed during the call: then the lease soon expires.
  if (lease.taskArn === undefined) return startingSince(lease.startedAt, now);

  const stopped = tasks.find(({ arn }) => arn === lease.taskArn);
  if (!stopped && now - lease.startedAt < ECS_CONSISTENCY_SECONDS) return startingSince(lease.startedAt, now);
  return { kind: 'start', from: lease.owner, stopped };
}

/** @param orderedAt epoch seconds of RunTask @param now epoch seconds */
export const startingSince = (orderedAt: number, now: number): Extract<WakePlan, { kind: 'coming' }> => ({
  kind: 'coming',
  title: 'Starting the stream host',
  retryAfterSeconds: Math.min(START_SECONDS, Math.max(MIN_RETRY_AFTER_SECONDS, START_SECONDS - (now - orderedAt))),
});
