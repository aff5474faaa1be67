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

describe('the registration', () => {
  it.each<[string, readonly HostTask[], string | undefined, object]>([
    ['has nothing to do where nothing is', [], undefined, KEEP],
    ['registers the host that runs', [task(1)], undefined, write(1)],
    ['leaves a fresh lease alone', [task(1)], record(1, LEASE), KEEP],
    ['leaves a lease alone that the next turn renews in time', [task(1)], record(1, 20 * 60), KEEP],
    ['renews a lease before it runs out', [task(1)], record(1, 20 * 60 - 1), write(1)],
    ['renews a lease that has run out', [task(1)], record(1, -100), write(1)],
    ['replaces the record of a host that is gone', [task(2)], record(1, LEASE), write(2)],
    ['replaces a record with another secret', [task(1)], record(1, LEASE).replace('secret-1', 'x'), write(1)],
    ['replaces a record that makes no sense', [task(1)], 'host-1.example|secret-1|soon', write(1)],
    ['replaces an empty record', [task(1)], '', write(1)],
    ['removes the record when nothing runs', [], record(1, LEASE), DELETE],
    ['removes an empty record when nothing runs', [], '', DELETE],
    ['removes a host that is ending', [task(1, { stage: 'ending' })], record(1, LEASE), DELETE],
    ['removes a host that has stopped', [task(1, { stage: 'stopped' })], record(1, LEASE), DELETE],
    ['removes a host that is sick', [task(1, { stage: 'unhealthy' })], record(1, LEASE), DELETE],
    ['waits for a host that starts', [task(1, { stage: 'starting' })], undefined, KEEP],
    ['registers no host without a public name', [task(9)], undefined, KEEP],
    ['registers the newest of two', [task(1), task(2)], record(1, LEASE), write(2)],
    ['leaves the newest of two registered', [task(2), task(1)], record(2, LEASE), KEEP],
    ['prefers an older one that can be reached', [task(1), task(9)], undefined, write(1)],
    ['decides between two of one second', [task(1, { createdAt: 1 }), task(2, { createdAt: 1 })], undefined, write(2)],
  ])('%s', (_, tasks, recorded, change) => expect(plan(tasks, recorded).change).toEqual(change));

  it.each([
    ['unknown', [], KEEP],
    ['unknown', [task(1)], write(1)],
    ['unwanted', [], DELETE],
    ['unwanted', [task(1)], write(1)],
  ] as const)('that is %s, with hosts %j', (recorded, tasks, change) =>
    expect(planRegistration({ tasks, names, record: recorded, now: NOW }).change).toEqual(change),
  );

  it('registers no host without a secret', () => {
    const { secret: _, ...open } = task(1);
    expect(plan([open])).toMatchObject({ change: KEEP, unreachable: [open] });
  });

  it('names a host that is sick', () => {
    const sick = task(1, { stage: 'unhealthy' });
    expect(plan([sick, task(2)])).toMatchObject({ change: write(2), serving: task(2), unreachable: [sick] });
  });

  it('registers no host without a network interface', () => {
    const { networkInterface: _, ...cut } = task(1);
    expect(plan([cut], record(1, LEASE))).toMatchObject({ change: DELETE, unreachable: [cut] });
  });

  it('says what becomes of the others', () => {
    const tasks = [task(1), task(3), task(2), task(9)];
    expect(plan(tasks)).toMatchObject({ serving: task(3), idle: [task(2), task(1)], unreachable: [task(9)] });
  });

  it.each<[string, readonly HostTask[], readonly number[]]>([
    ['no host that serves', [task(1)], []],
    ['the older of two', [task(1), task(2)], [1]],
    ['a sick one, however young', [task(1, { stage: 'unhealthy', runningSince: NOW })], [1]],
    ['no host whose name may still show', [task(9, { runningSince: NOW - 299 })], []],
    ['no host that has not said since when it runs', [task(9)], []],
    ['a host without a name for minutes', [task(9, { runningSince: NOW - 300 })], [9]],
    ['none that starts, ends or has ended', [task(1, { stage: 'starting' }), task(2, { stage: 'ending' })], []],
  ])('ends %s', (_, tasks, surplus) => {
    expect(plan(tasks).surplus.map(({ arn }) => arn)).toEqual(surplus.map((id) => task(id).arn));
  });
});
