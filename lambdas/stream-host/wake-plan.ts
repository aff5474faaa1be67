import type { StreamTaskLease } from '../../core/state/index.ts';
import { type HostTask, isOutdated } from './host-task.ts';

/** What a wake finds. */
export interface WakeState {
  /** The lease in force. */
  readonly lease: StreamTaskLease | undefined;
  /** Every task that ECS wants to run, and the one that the lease names. */
  readonly tasks: readonly HostTask[];
  /** ARN of the revision of the task definition that is deployed. */
  readonly definition: string;
  /** Epoch seconds. */
  readonly now: number;
}

/** What a wake has to do, or tells the client to wait for. */
export type WakePlan =
  | { readonly kind: 'start'; readonly from?: string; readonly dead?: HostTask }
  | { readonly kind: 'coming'; readonly title: string; readonly retryAfter: number }
  | { readonly kind: 'serving' };

/** Seconds from the order until a host usually serves: network, image, start, registration. */
const START_SECONDS = 45;
/** Seconds that the name of a running host may need to reach every edge. */
const SETTLE_SECONDS = 60;
/** Seconds in which ECS may not know a task yet that it has just accepted (its reads are eventually consistent). */
const BLIND_SECONDS = 30;
const SHORTEST_WAIT = 5;

/**
 * Whether the one host there is runs what was deployed before, and nobody has set out to replace it. A successor that died
 * is not followed by the next before its lease has run out: the old host serves meanwhile.
 */
function needsSuccessor({ lease, tasks, definition }: WakeState): boolean {
  const [host, ...others] = tasks.filter(({ stage }) => stage !== 'ending' && stage !== 'stopped');
  if (host?.stage !== 'running' || others.length > 0 || !isOutdated(host, definition)) return false;
  return lease === undefined || lease.taskArn === host.arn;
}

/**
 * One host at a time: start one where none is and nobody is about to, take over from one that died, and else tell what
 * is going on; beside one that runs what was deployed before, start the one that takes its place. A request that comes here while a host has long been serving was refused there: it has no room.
 */
export function planWake(sight: WakeState): WakePlan {
  const { lease, tasks, now } = sight;
  if (needsSuccessor(sight)) return { kind: 'start', ...(lease && { from: lease.owner }) };
  const running = tasks.filter(({ stage }) => stage === 'running');
  if (running.some(({ runningSince = now }) => now - runningSince >= SETTLE_SECONDS)) return { kind: 'serving' };
  if (running.length > 0) return { kind: 'coming', title: 'Registering the stream host', retryAfter: SHORTEST_WAIT };
  const [starting] = tasks.filter(({ stage }) => stage === 'starting');
  if (starting) return comingSince(starting.createdAt, now);
  if (!lease) return { kind: 'start' };
  // Its owner is placing the order, or has died over it: then the lease soon runs out.
  if (lease.taskArn === undefined) return comingSince(lease.startedAt, now);

  const dead = tasks.find(({ arn }) => arn === lease.taskArn);
  if (!dead && now - lease.startedAt < BLIND_SECONDS) return comingSince(lease.startedAt, now);
  return { kind: 'start', from: lease.owner, ...(dead && { dead }) };
}

/** @param since epoch seconds of the order */
export const comingSince = (since: number, now: number): Extract<WakePlan, { kind: 'coming' }> => ({
  kind: 'coming',
  title: 'Starting the stream host',
  retryAfter: Math.min(START_SECONDS, Math.max(SHORTEST_WAIT, START_SECONDS - (now - since))),
});
