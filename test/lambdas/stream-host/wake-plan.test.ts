import { describe, expect, it } from 'vitest';
import type { StreamTaskLease } from '../../../core/state/state.ts';
import type { HostTask } from '../../../lambdas/stream-host/host-task.ts';
import { planWake, type WakePlan } from '../../../lambdas/stream-host/wake-plan.ts';

const NOW = 1_800_000_000;
const task = (stage: HostTask['stage'], age: number, more: Partial<HostTask> = {}): HostTask => ({
  arn: 'arn:task/1',
  stage,
  createdAt: NOW - age,
  ...more,
});
const lease = (age: number, taskArn?: string): StreamTaskLease => ({
  owner: 'one',
  startedAt: NOW - age,
  expiresAt: NOW + 10,
  ...(taskArn && { taskArn }),
});
const DEPLOYED = 'arn:task-definition/stream:2';
/** A serving host of the former revision. */
const outdated = task('running', 900, { runningSince: NOW - 900, definition: 'arn:task-definition/stream:1' });
const serving: WakePlan = { kind: 'serving' };
const starting = (retryAfterSeconds: number): WakePlan => ({
  kind: 'coming',
  title: 'Starting the stream host',
  retryAfterSeconds,
});
const registering: WakePlan = { kind: 'coming', title: 'Registering the stream host', retryAfterSeconds: 5 };
const stopped = task('stopped', 20, { stopReason: 'Essential container in task exited' });

describe('planWake', () => {
  it.each<[string, StreamTaskLease | undefined, readonly HostTask[], WakePlan]>([
    ['starts a host when none exists', undefined, [], { kind: 'start' }],
    ['starts a host after the last has ended', undefined, [task('ending', 9_000)], { kind: 'start' }],
    ['waits for a concurrent order', lease(0), [], starting(45)],
    ['reports the minimum delay for a slow concurrent order', lease(50), [], starting(5)],
    ['waits for a leased host that ECS does not list yet', lease(29, 'arn:task/1'), [], starting(16)],
    ['replaces a host that ECS does not know', lease(30, 'arn:task/1'), [], { kind: 'start', from: 'one' }],
    ['waits for a starting host', lease(10, 'arn:task/1'), [task('starting', 10)], starting(35)],
    ['reports the minimum delay for a slow start', lease(200, 'arn:task/1'), [task('starting', 200)], starting(5)],
    ['waits for a starting host that the lease does not name', lease(0), [task('starting', 10)], starting(35)],
    ['waits for a starting host whose lease has expired', undefined, [task('starting', 400)], starting(5)],
    ['reports at most the usual start time', undefined, [task('starting', -500)], starting(45)],
    ['waits until a host is registered', undefined, [task('running', 30, { runningSince: NOW - 59 })], registering],
    ['waits for a host that has just started to run', undefined, [task('running', 30)], registering],
    [
      'reports a serving host, which must be full',
      undefined,
      [task('running', 90, { runningSince: NOW - 60 })],
      { kind: 'serving' },
    ],
    [
      'starts none beside a serving host, whatever the lease names',
      lease(40, 'arn:task/1'),
      [stopped, task('running', 900, { arn: 'arn:task/2', runningSince: NOW - 900 })],
      { kind: 'serving' },
    ],
    ['starts a host beside an unhealthy one', undefined, [task('unhealthy', 900)], { kind: 'start' }],
    ['replaces a stopped host', lease(20, 'arn:task/1'), [stopped], { kind: 'start', from: 'one', stopped }],
    [
      'replaces an ending host',
      lease(20, 'arn:task/1'),
      [task('ending', 20)],
      { kind: 'start', from: 'one', stopped: task('ending', 20) },
    ],
    ['keeps a host of the deployed revision', undefined, [{ ...outdated, definition: DEPLOYED }], serving],
    ['starts the successor of an outdated host', undefined, [outdated], { kind: 'start' }],
    [
      'starts the successor of an outdated host that has just been started',
      lease(200, 'arn:task/1'),
      [{ ...outdated, runningSince: NOW - 10 }],
      { kind: 'start', from: 'one' },
    ],
    ['keeps serving while a successor is being ordered', lease(0), [outdated], serving],
    ['waits for a leased successor that ECS does not list yet', lease(0, 'arn:task/2'), [outdated], serving],
    ['starts no third host beside a successor', undefined, [outdated, task('starting', 9, { arn: 'b' })], serving],
    [
      'starts no third host beside an unhealthy one',
      undefined,
      [outdated, task('unhealthy', 99, { arn: 'b' })],
      serving,
    ],
    ['starts no third host beside two outdated ones', undefined, [outdated, { ...outdated, arn: 'b' }], serving],
    [
      'does not replace a stopped successor before its lease expires',
      lease(60, 'arn:task/2'),
      [outdated, task('stopped', 60, { arn: 'arn:task/2' })],
      serving,
    ],
    [
      'starts a host, not a successor, beside an ending host',
      undefined,
      [{ ...outdated, stage: 'ending' }],
      { kind: 'start' },
    ],
  ])('%s', (_, held, tasks, plan) =>
    expect(planWake({ lease: held, tasks, definition: DEPLOYED, now: NOW })).toEqual(plan),
  );
});
