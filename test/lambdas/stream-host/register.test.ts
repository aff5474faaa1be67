import { beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedTask } from '../../support/scripted-aws.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

let fixture: OnDemandFixture;
beforeEach(async () => {
  fixture = await startOnDemandFixture();
});

const NAME = 'ec2-192-0-2-1.compute-1.amazonaws.com';
const SCHEDULE = { 'detail-type': 'Scheduled Event', detail: {} };
const record = () => fixture.aws.store.get('host');
const eventOf = ({ taskArn, lastStatus, desiredStatus }: ScriptedTask) => ({
  detail: { taskArn, lastStatus, desiredStatus },
});

/** A task that the wake function has started; it runs when it gets a public name. */
async function started(name?: string): Promise<ScriptedTask> {
  const lease = await fixture.state.getStreamTask();
  if (lease) await fixture.state.endStreamTask(lease.owner);
  for (const task of fixture.aws.tasks.splice(0)) parked.push(task);
  await fixture.wakeAhead();
  const [task] = fixture.aws.tasks;
  if (!task) throw new Error('No task was started');
  fixture.aws.tasks.unshift(...parked.splice(0));
  if (name) fixture.aws.run(task, name);
  return task;
}
const parked: ScriptedTask[] = [];
const secretOf = (task: ScriptedTask) => /"value":"([^"]+)"/.exec(JSON.stringify(task.overrides))?.[1];

describe('createRegister', () => {
  it('registers a running host with its secret and the end of its lease', async () => {
    const task = await started();
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'keep' });
    fixture.aws.run(task, NAME);
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'write' });
    const [name, secret, expires] = record()?.split('|') ?? [];
    expect([name, secret]).toEqual([NAME, secretOf(task)]);
    expect(Number(expires) - fixture.now() / 1000).toBeCloseTo(25 * 60, -1);
  });

  it('renews the registration at least every second run of the schedule, before it expires', async () => {
    await started(NAME);
    await fixture.register(SCHEDULE);
    for (let turn = 0; turn < 6; turn++) {
      fixture.pass(600);
      expect(Number(record()?.split('|')[2]) * 1000).toBeGreaterThan(fixture.now());
      await fixture.register(SCHEDULE);
      expect(Number(record()?.split('|')[2]) * 1000 - fixture.now()).toBeGreaterThanOrEqual(1199_000);
    }
  });

  it('removes the registration once ECS reports that the task is ending', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    task.desiredStatus = 'STOPPED';
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('removes the registration on the event although ECS still lists the task as running', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    await fixture.register({ detail: { taskArn: task.taskArn, lastStatus: 'RUNNING', desiredStatus: 'STOPPED' } });
    expect(record()).toBeUndefined();
  });

  it('registers the task of the event although ECS does not list it yet', async () => {
    const task = await started(NAME);
    Object.assign(task, { group: 'family:not-listed' });
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'write' });
  });

  it.each([
    ['start', () => undefined, 'write'],
    ['end', (task: ScriptedTask) => fixture.aws.stop(task, 'Crash'), 'delete'],
  ])('repairs the registration by the schedule after a lost %s event', async (_, happen, change) => {
    const task = await started(NAME);
    if (change === 'delete') await fixture.register(eventOf(task));
    happen(task);
    expect(await fixture.register(SCHEDULE)).toEqual({ change });
    expect(record() === undefined).toBe(change === 'delete');
  });

  it('registers the newest of two hosts, and logs and stops the other', async () => {
    const old = await started(NAME);
    await fixture.register(eventOf(old));
    fixture.pass(100);
    const young = await started('young.example');
    await fixture.register(eventOf(old));
    expect(record()).toMatch(/^young\.example\|/);
    const warning = fixture.logged.find((line) => line.includes('other than the newest'));
    expect(warning).toContain(old.taskArn);
    expect(warning).not.toContain(young.taskArn);
    expect([old.desiredStatus, young.desiredStatus]).toEqual(['STOPPED', 'RUNNING']);
  });

  it('registers a host that could not be stopped when the newer one ends', async () => {
    const old = await started(NAME);
    await fixture.register(eventOf(old));
    fixture.pass(100);
    const young = await started('young.example');
    fixture.aws.interfere = (operation) =>
      operation === 'StopTask' ? { status: 400, type: 'ThrottlingException' } : undefined;
    expect(await fixture.register(eventOf(young))).toEqual({ change: 'write' });
    expect(fixture.logged.join()).toContain('Failed to stop stream host');
    fixture.aws.stop(young, 'Idle');
    await fixture.register(eventOf(young));
    expect(record()).toMatch(new RegExp(`^${NAME}\\|`));
  });

  it('removes the registration of an unhealthy host and stops it', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    Object.assign(task, { healthStatus: 'UNHEALTHY' });
    expect(await fixture.register(SCHEDULE)).toEqual({ change: 'delete' });
    expect(task.desiredStatus).toBe('STOPPED');
    expect(fixture.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
    await fixture.register(eventOf(task));
    expect(fixture.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
  });

  it('does not register an unreachable host, and logs it', async () => {
    const task = await started();
    fixture.aws.run(task);
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'keep' });
    expect(fixture.logged.join()).toContain('unhealthy or unreachable');
    expect(task.desiredStatus).toBe('RUNNING');
    fixture.pass(300);
    await fixture.register(SCHEDULE);
    expect(task.desiredStatus).toBe('STOPPED');
  });

  it('ignores other tasks of the cluster', async () => {
    await started(NAME);
    const stranger = structuredClone(fixture.aws.tasks[0]);
    if (stranger) fixture.aws.tasks.push(Object.assign(stranger, { taskArn: 'arn:other', group: 'family:other' }));
    expect(await fixture.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(fixture.logged.join()).not.toContain('other than the newest');
  });
});

describe('createRegister: calls of the key-value store, which are billed', () => {
  const paid = () => fixture.aws.calls.filter((call) => /Key/.test(call));

  it('makes none while nothing runs', async () => {
    for (let turn = 0; turn < 5; turn++) await fixture.register(SCHEDULE);
    const task = await started();
    await fixture.register(eventOf(task));
    expect(paid()).toEqual([]);
  });

  it('writes once per renewal while a host runs, and once when it ends', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    await fixture.register(eventOf(task));
    expect(paid()).toEqual(['DescribeKeyValueStore', 'PutKey']);
    for (let turn = 0; turn < 3; turn++) {
      fixture.pass(600);
      await fixture.register(SCHEDULE);
    }
    expect(paid().slice(2)).toEqual(['PutKey', 'PutKey', 'PutKey']);
    for (const lastStatus of ['RUNNING', 'DEACTIVATING', 'STOPPED']) {
      Object.assign(task, { desiredStatus: 'STOPPED', lastStatus });
      await fixture.register(eventOf(task));
    }
    await fixture.register(SCHEDULE);
    expect(paid().slice(5)).toEqual(['DeleteKey']);
  });

  it('removes a registration that another execution environment has written', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    fixture.restartRegister();
    fixture.aws.stop(task, 'Idle');
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('removes it after having removed the registration of another host', async () => {
    const old = await started(NAME);
    await fixture.register(eventOf(old));
    fixture.aws.stop(old, 'Idle');
    await fixture.register(eventOf(old));
    const task = await started('young.example');
    // Written by another execution environment of the function.
    fixture.aws.changeStore('host', `young.example|${secretOf(task)}|${Math.floor(fixture.now() / 1000) + 1500}`);
    fixture.aws.stop(task, 'Idle');
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('accepts that the record is already removed', async () => {
    const task = await started();
    fixture.aws.stop(task, 'Capacity');
    expect(await fixture.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(paid()).toEqual(['DescribeKeyValueStore', 'DeleteKey']);
  });

  it('keeps the newer write of another execution environment', async () => {
    const task = await started(NAME);
    await fixture.register(eventOf(task));
    const young = await started('young.example');
    fixture.aws.interfere = (operation) => {
      if (operation === 'PutKey' && record()?.startsWith(NAME)) {
        fixture.aws.stop(young, 'Crash');
        fixture.aws.changeStore('host', 'another.example|x|1');
      }
      return undefined;
    };
    await fixture.register(eventOf(young));
    expect(record()).toMatch(new RegExp(`^${NAME}`));
  });
});

describe('createRegister: concurrent writes', () => {
  const others = (times: number) => {
    let left = times;
    const conflict = { status: 409, type: 'ConflictException' };
    fixture.aws.interfere = (operation) => (operation === 'PutKey' && left-- > 0 ? conflict : undefined);
  };

  it('reads the version again and retries', async () => {
    await started(NAME);
    others(4);
    expect(await fixture.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(record()).toContain(NAME);
  });

  it('fails after a limited number of attempts, so that the event is retried', async () => {
    await started(NAME);
    others(5);
    await expect(fixture.register(SCHEDULE)).rejects.toThrow('changed concurrently');
  });

  it.each(['DescribeKeyValueStore', 'ListTasks', 'DescribeTasks', 'DescribeNetworkInterfaces', 'PutKey'])(
    'leaves the store unchanged when %s fails, so that the event is retried',
    async (failing) => {
      await started(NAME);
      fixture.aws.interfere = (operation) => (operation === failing ? 'hang up' : undefined);
      await expect(fixture.register(SCHEDULE)).rejects.toThrow();
      expect(record()).toBeUndefined();
    },
  );
});
