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
    ['keeps a registration that the next schedule renews in time', [task(1)], record(1, 20 * 60), KEEP],
    ['renews an expired registration', [task(1)], record(1, -100), write(1)],
    ['replaces a record with another secret', [task(1)], record(1, LEASE).replace('secret-1', 'x'), write(1)],
    ['replaces a malformed record', [task(1)], 'host-1.example|secret-1|soon', write(1)],
    ['replaces an empty record', [task(1)], '', write(1)],
    ['removes an empty record when nothing runs', [], '', DELETE],
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

  it('registers no host without a network interface', () => {
    const { networkInterface: _, ...cut } = task(1);
    expect(plan([cut], record(1, LEASE))).toMatchObject({ change: DELETE, unreachable: [cut] });
  });

  it.each<[string, readonly HostTask[], readonly number[]]>([
    ['not a host whose name may still appear', [task(9, { runningSince: NOW - 299 })], []],
    ['not a host without a start time', [task(9)], []],
    ['not a starting, ending or ended host', [task(1, { stage: 'starting' }), task(2, { stage: 'ending' })], []],
  ])('lists as surplus: %s', (_, tasks, surplus) => {
    expect(plan(tasks).surplus.map(({ arn }) => arn)).toEqual(surplus.map((id) => task(id).arn));
  });
});
