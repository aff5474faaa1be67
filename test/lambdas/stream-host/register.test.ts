import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScriptedTask } from '../../support/scripted-aws.ts';
import { type OnDemandInstance, startOnDemandInstance } from './instance.ts';

let instance: OnDemandInstance;
beforeEach(async () => {
  instance = await startOnDemandInstance();
});
afterEach(() => instance.close());

const NAME = 'ec2-192-0-2-1.compute-1.amazonaws.com';
const SCHEDULE = { 'detail-type': 'Scheduled Event', detail: {} };
const record = () => instance.aws.store.get('host');
const eventOf = ({ taskArn, lastStatus, desiredStatus }: ScriptedTask) => ({
  detail: { taskArn, lastStatus, desiredStatus },
});

/** A task that the wake has started; it runs when it is given a name. */
async function started(name?: string): Promise<ScriptedTask> {
  const lease = await instance.state.getStreamTask();
  if (lease) await instance.state.endStreamTask(lease.owner);
  for (const task of instance.aws.tasks.splice(0)) parked.push(task);
  await instance.wakeAhead();
  const [task] = instance.aws.tasks;
  if (!task) throw new Error('No task was started');
  instance.aws.tasks.unshift(...parked.splice(0));
  if (name) instance.aws.run(task, name);
  return task;
}
const parked: ScriptedTask[] = [];
const secretOf = (task: ScriptedTask) => /"value":"([^"]+)"/.exec(JSON.stringify(task.overrides))?.[1];

describe('the registration of a host', () => {
  it('is written when it runs, with its secret and the end of the lease', async () => {
    const task = await started();
    expect(await instance.register(eventOf(task))).toEqual({ change: 'keep' });
    instance.aws.run(task, NAME);
    expect(await instance.register(eventOf(task))).toEqual({ change: 'write' });
    const [name, secret, expires] = record()?.split('|') ?? [];
    expect([name, secret]).toEqual([NAME, secretOf(task)]);
    expect(Number(expires) - instance.now() / 1000).toBeCloseTo(25 * 60, -1);
  });

  it('is renewed by every second turn of the schedule at the latest, and never runs out between', async () => {
    await started(NAME);
    await instance.register(SCHEDULE);
    for (let turn = 0; turn < 6; turn++) {
      instance.pass(600);
      expect(Number(record()?.split('|')[2]) * 1000).toBeGreaterThan(instance.now());
      await instance.register(SCHEDULE);
      expect(Number(record()?.split('|')[2]) * 1000 - instance.now()).toBeGreaterThanOrEqual(1199_000);
    }
  });

  it('is gone as soon as ECS says that the task ends', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    task.desiredStatus = 'STOPPED';
    expect(await instance.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('is gone as soon as the event says so, though ECS still tells of a running task', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    await instance.register({ detail: { taskArn: task.taskArn, lastStatus: 'RUNNING', desiredStatus: 'STOPPED' } });
    expect(record()).toBeUndefined();
  });

  it('is written for a task of the event that ECS does not list yet', async () => {
    const task = await started(NAME);
    Object.assign(task, { group: 'family:not-listed' });
    expect(await instance.register(eventOf(task))).toEqual({ change: 'write' });
  });

  it.each([
    ['of a start', () => undefined, 'write'],
    ['of an end', (task: ScriptedTask) => instance.aws.stop(task, 'Crash'), 'delete'],
  ])('heals by the schedule when the event %s was lost', async (_, happen, change) => {
    const task = await started(NAME);
    if (change === 'delete') await instance.register(eventOf(task));
    happen(task);
    expect(await instance.register(SCHEDULE)).toEqual({ change });
    expect(record() === undefined).toBe(change === 'delete');
  });

  it('goes to the newest of two, and the other one is named and stopped', async () => {
    const old = await started(NAME);
    await instance.register(eventOf(old));
    instance.pass(100);
    const young = await started('young.example');
    await instance.register(eventOf(old));
    expect(record()).toMatch(/^young\.example\|/);
    const warning = instance.logged.find((line) => line.includes('More than one'));
    expect(warning).toContain(old.taskArn);
    expect(warning).not.toContain(young.taskArn);
    expect([old.desiredStatus, young.desiredStatus]).toEqual(['STOPPED', 'RUNNING']);
  });

  it('goes to a host that could not be stopped when the newer one ends', async () => {
    const old = await started(NAME);
    await instance.register(eventOf(old));
    instance.pass(100);
    const young = await started('young.example');
    instance.aws.interfere = (operation) =>
      operation === 'StopTask' ? { status: 400, type: 'ThrottlingException' } : undefined;
    expect(await instance.register(eventOf(young))).toEqual({ change: 'write' });
    expect(instance.logged.join()).toContain('could not be stopped');
    instance.aws.stop(young, 'Idle');
    await instance.register(eventOf(young));
    expect(record()).toMatch(new RegExp(`^${NAME}\\|`));
  });

  it('ends with the health of its host, which is stopped', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    Object.assign(task, { healthStatus: 'UNHEALTHY' });
    expect(await instance.register(SCHEDULE)).toEqual({ change: 'delete' });
    expect(task.desiredStatus).toBe('STOPPED');
    expect(instance.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
    await instance.register(eventOf(task));
    expect(instance.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
  });

  it('is not made for a host that nobody can reach, and that is said', async () => {
    const task = await started();
    instance.aws.run(task);
    expect(await instance.register(eventOf(task))).toEqual({ change: 'keep' });
    expect(instance.logged.join()).toContain('cannot be reached');
    expect(task.desiredStatus).toBe('RUNNING');
    instance.pass(300);
    await instance.register(SCHEDULE);
    expect(task.desiredStatus).toBe('STOPPED');
  });

  it('is none of the business of other tasks of the cluster', async () => {
    await started(NAME);
    const stranger = structuredClone(instance.aws.tasks[0]);
    if (stranger) instance.aws.tasks.push(Object.assign(stranger, { taskArn: 'arn:other', group: 'family:other' }));
    expect(await instance.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(instance.logged.join()).not.toContain('More than one');
  });
});

describe('the store, which costs by the call', () => {
  const paid = () => instance.aws.calls.filter((call) => /Key/.test(call));

  it('is not asked while nothing runs', async () => {
    for (let turn = 0; turn < 5; turn++) await instance.register(SCHEDULE);
    const task = await started();
    await instance.register(eventOf(task));
    expect(paid()).toEqual([]);
  });

  it('is written once a turn while a host runs, and once when it ends', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    await instance.register(eventOf(task));
    expect(paid()).toEqual(['DescribeKeyValueStore', 'PutKey']);
    for (let turn = 0; turn < 3; turn++) {
      instance.pass(600);
      await instance.register(SCHEDULE);
    }
    expect(paid().slice(2)).toEqual(['PutKey', 'PutKey', 'PutKey']);
    for (const lastStatus of ['RUNNING', 'DEACTIVATING', 'STOPPED']) {
      Object.assign(task, { desiredStatus: 'STOPPED', lastStatus });
      await instance.register(eventOf(task));
    }
    await instance.register(SCHEDULE);
    expect(paid().slice(5)).toEqual(['DeleteKey']);
  });

  it('hears of an end also from one who has not registered the host', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    instance.startRegisterAnew();
    instance.aws.stop(task, 'Idle');
    expect(await instance.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('hears of an end also from one who remembers the end of another host', async () => {
    const old = await started(NAME);
    await instance.register(eventOf(old));
    instance.aws.stop(old, 'Idle');
    await instance.register(eventOf(old));
    const task = await started('young.example');
    // What another instance of the function has written.
    instance.aws.changeStore('host', `young.example|${secretOf(task)}|${Math.floor(instance.now() / 1000) + 1500}`);
    instance.aws.stop(task, 'Idle');
    expect(await instance.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(record()).toBeUndefined();
  });

  it('bears that the record is gone already', async () => {
    const task = await started();
    instance.aws.stop(task, 'Capacity');
    expect(await instance.register(eventOf(task))).toEqual({ change: 'delete' });
    expect(paid()).toEqual(['DescribeKeyValueStore', 'DeleteKey']);
  });

  it('keeps what another one has seen later', async () => {
    const task = await started(NAME);
    await instance.register(eventOf(task));
    const young = await started('young.example');
    instance.aws.interfere = (operation) => {
      if (operation === 'PutKey' && record()?.startsWith(NAME)) {
        instance.aws.stop(young, 'Crash');
        instance.aws.changeStore('host', 'another.example|x|1');
      }
      return undefined;
    };
    await instance.register(eventOf(young));
    expect(record()).toMatch(new RegExp(`^${NAME}`));
  });
});

describe('a store that others change, too', () => {
  const others = (times: number) => {
    let left = times;
    const conflict = { status: 409, type: 'ConflictException' };
    instance.aws.interfere = (operation) => (operation === 'PutKey' && left-- > 0 ? conflict : undefined);
  };

  it('is read anew and written', async () => {
    await started(NAME);
    others(4);
    expect(await instance.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(record()).toContain(NAME);
  });

  it('is given up after a while, so that the event comes again', async () => {
    await started(NAME);
    others(5);
    await expect(instance.register(SCHEDULE)).rejects.toThrow('changed by somebody else');
  });

  it.each(['DescribeKeyValueStore', 'ListTasks', 'DescribeTasks', 'DescribeNetworkInterfaces', 'PutKey'])(
    'is left as it is when %s fails, so that the event comes again',
    async (failing) => {
      await started(NAME);
      instance.aws.interfere = (operation) => (operation === failing ? 'hang up' : undefined);
      await expect(instance.register(SCHEDULE)).rejects.toThrow();
      expect(record()).toBeUndefined();
    },
  );
});
