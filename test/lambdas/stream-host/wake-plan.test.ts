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
/** A host that serves, of the revision before. */
const outdated = task('running', 900, { runningSince: NOW - 900, definition: 'arn:task-definition/stream:1' });
const serving: WakePlan = { kind: 'serving' };
const starting = (retryAfterSeconds: number): WakePlan => ({
  kind: 'coming',
  title: 'Starting the stream host',
  retryAfterSeconds,
});
const registering: WakePlan = { kind: 'coming', title: 'Registering the stream host', retryAfterSeconds: 5 };
const dead = task('stopped', 20, { stopReason: 'Essential container in task exited' });

describe('a wake', () => {
  it.each<[string, StreamTaskLease | undefined, readonly HostTask[], WakePlan]>([
    ['starts a host where nothing is', undefined, [], { kind: 'start' }],
    ['starts one after the last has ended', undefined, [task('ending', 9_000)], { kind: 'start' }],
    ['waits for whoever has just begun to place the order', lease(0), [], starting(45)],
    ['waits for whoever places the order, and not for ever', lease(50), [], starting(5)],
    ['believes in a host that ECS does not show yet', lease(29, 'arn:task/1'), [], starting(16)],
    ['replaces a host that ECS does not know', lease(30, 'arn:task/1'), [], { kind: 'start', from: 'one' }],
    ['waits for a host that starts', lease(10, 'arn:task/1'), [task('starting', 10)], starting(35)],
    ['waits for a slow host in short turns', lease(200, 'arn:task/1'), [task('starting', 200)], starting(5)],
    ['waits for a host of which the lease knows nothing', lease(0), [task('starting', 10)], starting(35)],
    ['waits for a host whose lease has run out', undefined, [task('starting', 400)], starting(5)],
    ['never promises more than a start takes', undefined, [task('starting', -500)], starting(45)],
    ['waits until a host is registered', undefined, [task('running', 30, { runningSince: NOW - 59 })], registering],
    ['waits for a host that has just begun to run', undefined, [task('running', 30)], registering],
    [
      'finds a host that has no room',
      undefined,
      [task('running', 90, { runningSince: NOW - 60 })],
      { kind: 'serving' },
    ],
    [
      'starts none beside one that serves, whatever the lease says',
      lease(40, 'arn:task/1'),
      [dead, task('running', 900, { arn: 'arn:task/2', runningSince: NOW - 900 })],
      { kind: 'serving' },
    ],
    ['starts one beside a host that is sick', undefined, [task('unhealthy', 900)], { kind: 'start' }],
    ['replaces a host that died', lease(20, 'arn:task/1'), [dead], { kind: 'start', from: 'one', dead }],
    [
      'replaces a host that is about to end',
      lease(20, 'arn:task/1'),
      [task('ending', 20)],
      { kind: 'start', from: 'one', dead: task('ending', 20) },
    ],
    ['leaves a host of what is deployed alone', undefined, [{ ...outdated, definition: DEPLOYED }], serving],
    ['starts the successor of a host of a deployment before', undefined, [outdated], { kind: 'start' }],
    [
      'starts the successor of a host that has just been started',
      lease(200, 'arn:task/1'),
      [{ ...outdated, runningSince: NOW - 10 }],
      { kind: 'start', from: 'one' },
    ],
    ['waits for whoever orders the successor', lease(0), [outdated], serving],
    ['believes in a successor that ECS does not show yet', lease(0, 'arn:task/2'), [outdated], serving],
    ['starts no third one beside a successor', undefined, [outdated, task('starting', 9, { arn: 'b' })], serving],
    ['starts no third one beside a sick host', undefined, [outdated, task('unhealthy', 99, { arn: 'b' })], serving],
    ['starts no third one beside two old hosts', undefined, [outdated, { ...outdated, arn: 'b' }], serving],
    [
      'leaves it at a successor that died, until its lease has run out',
      lease(60, 'arn:task/2'),
      [outdated, task('stopped', 60, { arn: 'arn:task/2' })],
      serving,
    ],
    ['starts no successor of a host that ends', undefined, [{ ...outdated, stage: 'ending' }], { kind: 'start' }],
  ])('%s', (_, held, tasks, plan) =>
    expect(planWake({ lease: held, tasks, definition: DEPLOYED, now: NOW })).toEqual(plan),
  );
});
