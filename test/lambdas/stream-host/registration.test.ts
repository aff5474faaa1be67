import { describe, expect, it } from 'vitest';
import type { HostTask } from '../../../lambdas/stream-host/host-task.ts';
import { planRegistration } from '../../../lambdas/stream-host/registration.ts';

const NOW = 1_800_000_000;
const LEASE = 25 * 60;
const task = (id: number, more: Partial<HostTask> = {}): HostTask => ({
  arn: `arn:task/${id}`,
  stage: 'running',
  createdAt: NOW - 1000 + id,
  networkInterface: `eni-${id}`,
  secret: `secret-${id}`,
  ...more,
});
const names = new Map([1, 2, 3].map((id) => [`eni-${id}`, `host-${id}.example`]));
const record = (id: number, left: number) => `host-${id}.example|secret-${id}|${NOW + left}`;
const write = (id: number) => ({ kind: 'write', value: record(id, LEASE) });
const KEEP = { kind: 'keep' };
const DELETE = { kind: 'delete' };

const plan = (tasks: readonly HostTask[], recorded?: string) =>
  planRegistration({ tasks, names, record: { value: recorded }, now: NOW });

describe('planRegistration', () => {
  it.each<[string, readonly HostTask[], string | undefined, object]>([
    ['keeps an empty record when nothing runs', [], undefined, KEEP],
    ['registers the running host', [task(1)], undefined, write(1)],
    ['keeps a fresh registration', [task(1)], record(1, LEASE), KEEP],
    ['keeps a registration that the next schedule renews in time', [task(1)], record(1, 20 * 60), KEEP],
    ['renews a registration before it expires', [task(1)], record(1, 20 * 60 - 1), write(1)],
    ['renews an expired registration', [task(1)], record(1, -100), write(1)],
    ['replaces the record of a stopped host', [task(2)], record(1, LEASE), write(2)],
    ['replaces a record with another secret', [task(1)], record(1, LEASE).replace('secret-1', 'x'), write(1)],
    ['replaces a malformed record', [task(1)], 'host-1.example|secret-1|soon', write(1)],
    ['replaces an empty record', [task(1)], '', write(1)],
    ['removes the record when nothing runs', [], record(1, LEASE), DELETE],
    ['removes an empty record when nothing runs', [], '', DELETE],
    ['removes an ending host', [task(1, { stage: 'ending' })], record(1, LEASE), DELETE],
    ['removes a stopped host', [task(1, { stage: 'stopped' })], record(1, LEASE), DELETE],
    ['removes an unhealthy host', [task(1, { stage: 'unhealthy' })], record(1, LEASE), DELETE],
    ['does not register a starting host', [task(1, { stage: 'starting' })], undefined, KEEP],
    ['registers no host without a public name', [task(9)], undefined, KEEP],
    ['registers the newest of two hosts', [task(1), task(2)], record(1, LEASE), write(2)],
    ['keeps the newest of two hosts registered', [task(2), task(1)], record(2, LEASE), KEEP],
    ['prefers an older host that is reachable', [task(1), task(9)], undefined, write(1)],
    [
      'orders hosts of the same second by ARN',
      [task(1, { createdAt: 1 }), task(2, { createdAt: 1 })],
      undefined,
      write(2),
    ],
  ])('%s', (_, tasks, recorded, change) => expect(plan(tasks, recorded).change).toEqual(change));

  it.each([
    ['unknown', [], KEEP],
    ['unknown', [task(1)], write(1)],
    ['stale', [], DELETE],
    ['stale', [task(1)], write(1)],
  ] as const)('plans from a record that is %s with hosts %j', (recorded, tasks, change) =>
    expect(planRegistration({ tasks, names, record: recorded, now: NOW }).change).toEqual(change),
  );

  it('registers no host without a secret', () => {
    const { secret: _, ...open } = task(1);
    expect(plan([open])).toMatchObject({ change: KEEP, unreachable: [open] });
  });

  it('reports an unhealthy host as unreachable', () => {
    const unhealthy = task(1, { stage: 'unhealthy' });
    expect(plan([unhealthy, task(2)])).toMatchObject({ change: write(2), serving: task(2), unreachable: [unhealthy] });
  });

  it('registers no host without a network interface', () => {
    const { networkInterface: _, ...cut } = task(1);
    expect(plan([cut], record(1, LEASE))).toMatchObject({ change: DELETE, unreachable: [cut] });
  });

  it('reports idle and unreachable hosts', () => {
    const tasks = [task(1), task(3), task(2), task(9)];
    expect(plan(tasks)).toMatchObject({ serving: task(3), idle: [task(2), task(1)], unreachable: [task(9)] });
  });

  it.each<[string, readonly HostTask[], readonly number[]]>([
    ['not a serving host', [task(1)], []],
    ['the older of two hosts', [task(1), task(2)], [1]],
    ['an unhealthy host, however young', [task(1, { stage: 'unhealthy', runningSince: NOW })], [1]],
    ['not a host whose name may still appear', [task(9, { runningSince: NOW - 299 })], []],
    ['not a host without a start time', [task(9)], []],
    ['a host without a name after five minutes', [task(9, { runningSince: NOW - 300 })], [9]],
    ['not a starting, ending or ended host', [task(1, { stage: 'starting' }), task(2, { stage: 'ending' })], []],
  ])('lists as surplus: %s', (_, tasks, surplus) => {
    expect(plan(tasks).surplus.map(({ arn }) => arn)).toEqual(surplus.map((id) => task(id).arn));
  });
});
