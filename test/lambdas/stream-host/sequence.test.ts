import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mediaKey, openResponse, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { startUpstream, type Upstream } from '../../stream-service/source/upstream.ts';
import type { ScriptedTask } from '../../support/scripted-aws.ts';
import { createDistribution, type View } from './distribution.ts';
import { type HostProcess, startHostProcess } from './host-process.ts';
import { type OnDemandInstance, startOnDemandInstance } from './instance.ts';

const MEDIA = `/api/stream/media/${mediaKey('video')}`;
const NAME = 'ec2-192-0-2-1.compute-1.amazonaws.com';
const SCHEDULE = { detail: {} };
/** More than any buffer on the way takes in. */
const FILE = Buffer.alloc(24 * 1024 * 1024, createHash('sha512').update('a film').digest());

let upstream: Upstream;
let instance: OnDemandInstance;
let hosts: Map<string, number>;
let processes: HostProcess[];
let distribution: ReturnType<typeof createDistribution>;

beforeEach(async () => {
  upstream = await startUpstream();
  upstream.use((request, response) => {
    const [, first = '0', last] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
    const end = Math.min(last ? Number(last) : FILE.length - 1, FILE.length - 1);
    const range = `bytes ${first}-${end}/${FILE.length}`;
    response.writeHead(206, { 'content-range': range, etag: '"1"', 'content-type': 'video/webm' });
    response.end(FILE.subarray(Number(first), end + 1));
  });
  instance = await startOnDemandInstance();
  hosts = new Map();
  processes = [];
  distribution = createDistribution({ instance, hosts });
  await instance.state.putResource(resourceOf([videoTrack({ url: `${upstream.origin}/film`, container: 'webm' })]));
});
afterEach(async () => {
  for (const host of processes) await host.close();
  await instance.close();
  await upstream.close();
});

const view = (headers: Record<string, string> = {}) => distribution.view(MEDIA, { headers });
const titled = ({ by, status, headers, body }: View) => ({
  by,
  status,
  title: JSON.parse(body.toString()).title,
  retryAfter: headers['retry-after'],
});
const newestTask = (): ScriptedTask => {
  const task = instance.aws.tasks.at(-1);
  if (!task) throw new Error('No task was started');
  return task;
};
const tell = ({ taskArn, lastStatus, desiredStatus }: ScriptedTask) =>
  instance.register({ detail: { taskArn, lastStatus, desiredStatus } });

/** The ordered task comes to life as a process; nobody has been told yet. */
async function comesUp(task: ScriptedTask, name = NAME, environment: Record<string, string> = {}) {
  const secret = /"value":"([^"]+)"/.exec(JSON.stringify(task.overrides))?.[1] ?? '';
  const source = upstream.origin.replace('http://', '');
  const host = await startHostProcess({ secret, table: instance.table, source, environment });
  processes.push(host);
  hosts.set(name, host.port);
  instance.aws.run(task, name);
  return host;
}

/** Asleep → a request → up, registered and settled. */
async function awake(environment: Record<string, string> = {}) {
  await view();
  const task = newestTask();
  const host = await comesUp(task, NAME, environment);
  await tell(task);
  return { task, host };
}

describe('a host on demand', () => {
  it('is started by a stream, serves, keeps its lease, ends when idle, and is gone', async () => {
    const cold = await Promise.all([view(), view(), view()]);
    for (const each of cold)
      expect(titled(each)).toEqual({ by: 'wake', status: 503, title: 'Starting the stream host', retryAfter: '45' });
    expect(instance.aws.tasks).toHaveLength(1);
    const task = newestTask();
    expect(instance.aws.store.size).toBe(0);

    const host = await comesUp(task);
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Registering the stream host' });
    await tell(task);
    const whole = await view();
    expect(whole).toMatchObject({ by: NAME, status: 200 });
    expect(whole.body.equals(FILE)).toBe(true);
    const part = await view({ range: 'bytes=100-199' });
    expect(part).toMatchObject({ by: NAME, status: 206, body: FILE.subarray(100, 200) });
    const stranger = await fetch(`http://127.0.0.1:${host.port}${MEDIA}`, { headers: { 'x-reelay-origin': 'guess' } });
    expect([stranger.status, await stranger.json()]).toEqual([404, { title: 'Resource Not Found', status: 404 }]);

    for (let turn = 0; turn < 4; turn++) {
      instance.pass(600);
      await instance.register(SCHEDULE);
    }
    expect(await view({ range: 'bytes=0-0' })).toMatchObject({ by: NAME, status: 206 });

    const unknown = await distribution.view(MEDIA.replace(/.$/, '_'));
    expect(titled(unknown)).toMatchObject({ by: NAME, status: 404 });
    host.passMinute();
    expect(await host.ended).toBe(0);
    instance.aws.stop(task, 'Essential container in task exited');
    await tell(task);
    expect(instance.aws.store.size).toBe(0);
    expect(instance.aws.tasks).toHaveLength(1);

    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(instance.aws.tasks).toHaveLength(2);
  });

  it('is woken ahead by a resolve, so that its first stream may not wait at all', async () => {
    await instance.wakeAhead();
    await comesUp(newestTask());
    await tell(newestTask());
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });
    expect(instance.aws.tasks).toHaveLength(1);
  });

  it('is not doubled when it has no room: the next is told so', async () => {
    const { host } = await awake({ MAX_STREAMS: '1' });
    const secret = instance.aws.store.get('host')?.split('|')[1] ?? '';
    const held = await openResponse(`http://127.0.0.1:${host.port}${MEDIA}`, { 'x-reelay-origin': secret });
    expect(held.statusCode).toBe(200);
    instance.pass(60);
    expect(titled(await view())).toEqual({ by: 'wake', status: 503, title: 'No Capacity', retryAfter: '10' });
    expect(instance.aws.tasks).toHaveLength(1);
    held.destroy();
  });
});

describe('a deployment while a host is in use', () => {
  const SUCCESSOR = 'ec2-192-0-2-2.compute-1.amazonaws.com';
  const revisions = () => instance.aws.tasks.map(({ taskDefinitionArn }) => taskDefinitionArn.split(':').at(-1));

  it.each([
    ['by the next resolve', () => instance.wakeAhead()],
    ['by the schedule, where streams alone keep it awake', () => instance.register(SCHEDULE)],
  ])('reaches it %s: a successor takes its place, and the old one drains', async (_, happens) => {
    const { task, host } = await awake();
    instance.pass(600);
    instance.deploy();
    await happens();
    expect(revisions()).toEqual(['1', '2']);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });

    // Until it runs nothing more is started, whoever looks.
    instance.pass(20);
    await Promise.all([instance.wakeAhead(), instance.wakeAhead(), instance.register(SCHEDULE)]);
    const successor = newestTask();
    await comesUp(successor, SUCCESSOR);
    await tell(successor);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    expect([task.desiredStatus, successor.desiredStatus]).toEqual(['STOPPED', 'RUNNING']);
    host.kill();
    instance.aws.stop(task, 'No request comes to this stream host');
    await tell(task);
    instance.pass(600);
    await instance.register(SCHEDULE);
    await instance.wakeAhead();
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    expect(revisions()).toEqual(['1', '2']);
  });

  it('leaves the old host serving while no successor can be started', async () => {
    await awake();
    instance.deploy();
    instance.aws.interfere = (operation) =>
      operation === 'RunTask' ? { type: 'ClientException', message: 'Capacity is unavailable' } : undefined;
    expect(await instance.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(await instance.wakeAhead()).toEqual({ woken: 'refused' });
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });
    expect(revisions()).toEqual(['1']);
  });
});

describe('the bad days of a host on demand', () => {
  it('a crash: the next stream finds nobody at the leased address, and has it replaced', async () => {
    const { task, host } = await awake();
    host.kill();
    await host.ended;
    instance.aws.stop(task, 'Essential container in task exited');
    const next = await Promise.all([view(), view()]);
    for (const each of next) expect(titled(each)).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(instance.aws.tasks).toHaveLength(2);

    const other = 'ec2-192-0-2-2.compute-1.amazonaws.com';
    await comesUp(newestTask(), other);
    await tell(newestTask());
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: other, status: 206 });
  });

  it('a crash that ECS has not noticed: nothing is started twice, and the client is told to come again', async () => {
    const { host } = await awake();
    host.kill();
    await host.ended;
    instance.pass(60);
    expect(titled(await view())).toMatchObject({ by: 'wake', status: 503, title: 'No Capacity' });
    expect(instance.aws.tasks).toHaveLength(1);
  });

  it('a stale lease: the address is never asked again, whoever has it by now', async () => {
    const { task } = await awake();
    await view({ range: 'bytes=0-9' });
    expect(distribution.asked).toEqual([NAME]);
    // Neither event nor schedule comes.
    instance.aws.stop(task, 'Idle');
    instance.pass(25 * 60);
    expect(instance.aws.store.get('host')).toContain(NAME);
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(distribution.asked).toEqual([NAME]);
  });

  it('a lost event: the schedule registers the host', async () => {
    await view();
    await comesUp(newestTask());
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Registering the stream host' });
    instance.pass(600);
    await instance.register(SCHEDULE);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });
    expect(instance.aws.tasks).toHaveLength(1);
  });

  it('bots with bad keys: each is told that there is nothing, and nothing starts', async () => {
    const guesses = Array.from({ length: 20 }, (_, at) => createHash('sha256').update(`${at}`).digest('base64url'));
    for (const guess of guesses) {
      const answer = await distribution.view(`/api/Stream/Media/${guess.slice(0, 33)}`);
      expect(titled(answer)).toMatchObject({ by: 'wake', status: 404, title: 'Resource Not Found' });
    }
    expect(instance.aws.calls).toEqual([]);
    expect(await instance.state.getStreamTask()).toBeUndefined();
  });
});
