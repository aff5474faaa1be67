import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signRequest } from '../../../core/http/access-secrets.ts';
import { mediaKey, openResponse, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { startUpstream, type Upstream } from '../../stream-service/source/upstream.ts';
import { bundleProgram } from '../../support/bundle-program.ts';
import type { ScriptedTask } from '../../support/scripted-aws.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { createDistribution, type View } from './distribution.ts';
import { type HostProcess, STREAM_SERVICE, startHostProcess } from './host-process.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

const MEDIA = `/api/stream/media/${mediaKey('video')}`;
/** As the edge sends it. */
const SENT = `/api/Stream/Media/${mediaKey('video')}`;
const NAME = 'ec2-192-0-2-1.compute-1.amazonaws.com';
const SCHEDULE = { detail: {} };
/** Larger than all buffers between source and client. */
const FILE = Buffer.alloc(24 * 1024 * 1024, createHash('sha512').update('a film').digest());

const program = await bundleProgram(STREAM_SERVICE);
let upstream: Upstream;
let fixture: OnDemandFixture;
let hosts: Map<string, number>;
let clockOffsetFile: string;
let startedAt: number;
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
  fixture = await startOnDemandFixture();
  clockOffsetFile = join(await temporaryFolder(), 'offset');
  startedAt = fixture.now();
  pass(0);
  hosts = new Map();
  processes = [];
  distribution = createDistribution({ fixture, hosts });
  await fixture.state.putResource(resourceOf([videoTrack({ url: `${upstream.origin}/film`, container: 'webm' })]));
});
afterEach(async () => {
  for (const host of processes) await host.close();
});

/** Advances the clocks of the functions, the edge and the hosts. */
function pass(seconds: number) {
  fixture.pass(seconds);
  writeFileSync(`${clockOffsetFile}.next`, String(fixture.now() - startedAt));
  renameSync(`${clockOffsetFile}.next`, clockOffsetFile);
}

const view = (headers: Record<string, string> = {}) => distribution.view(MEDIA, { headers });
const titled = ({ by, status, headers, body }: View) => ({
  by,
  status,
  title: JSON.parse(body.toString()).title,
  retryAfter: headers['retry-after'],
});
const newestTask = (): ScriptedTask => {
  const task = fixture.aws.tasks.at(-1);
  if (!task) throw new Error('No task was started');
  return task;
};
const tell = ({ taskArn, lastStatus, desiredStatus }: ScriptedTask) =>
  fixture.register({ detail: { taskArn, lastStatus, desiredStatus } });

const secretOf = (task: ScriptedTask) => /"value":"([^"]+)"/.exec(JSON.stringify(task.overrides))?.[1] ?? '';

/** Starts the ordered task as a process, before any event of it. */
async function comesUp(task: ScriptedTask, name = NAME, environment: Record<string, string> = {}) {
  const secret = secretOf(task);
  const source = upstream.origin.replace('http://', '');
  const host = await startHostProcess({
    program,
    secret,
    table: fixture.table,
    source,
    environment: { CLOCK_OFFSET_FILE: clockOffsetFile, ...environment },
  });
  processes.push(host);
  hosts.set(name, host.port);
  fixture.aws.run(task, name);
  return host;
}

/** From no host to a registered host, through one request. */
async function awake(environment: Record<string, string> = {}) {
  await view();
  const task = newestTask();
  const host = await comesUp(task, NAME, environment);
  await tell(task);
  return { task, host };
}

describe('the on-demand stream host', () => {
  it('starts for a stream, serves, renews its registration, and ends when idle', async () => {
    const cold = await Promise.all([view(), view(), view()]);
    for (const each of cold)
      expect(titled(each)).toEqual({ by: 'wake', status: 503, title: 'Starting the stream host', retryAfter: '45' });
    expect(fixture.aws.tasks).toHaveLength(1);
    const task = newestTask();
    expect(fixture.aws.store.size).toBe(0);

    const host = await comesUp(task);
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Registering the stream host' });
    await tell(task);
    const whole = await view();
    expect(whole).toMatchObject({ by: NAME, status: 200 });
    expect(whole.body.equals(FILE)).toBe(true);
    const part = await view({ range: 'bytes=100-199' });
    expect(part).toMatchObject({ by: NAME, status: 206, body: FILE.subarray(100, 200) });
    const notFound = { type: '/problems/not-found', title: 'Resource Not Found', status: 404 };
    const [read = {}] = distribution.sent;
    const strangers = async (headers: Record<string, string>, path = SENT) => {
      const answer = await fetch(`http://127.0.0.1:${host.port}${path}`, {
        headers: { range: 'bytes=0-9', ...headers },
      });
      return [answer.status, answer.status === 404 ? await answer.json() : undefined];
    };
    expect(await strangers({ 'x-reelay-origin': 'guess' })).toEqual([404, notFound]);
    // What is read on the way to the task serves for a minute, and for nothing else.
    expect(JSON.stringify(read)).not.toContain(secretOf(task));
    expect(await strangers(read)).toEqual([206, undefined]);
    expect(await strangers(read, SENT.replace('Media', 'Combined'))).toEqual([404, notFound]);

    pass(61);
    expect(await strangers(read)).toEqual([404, notFound]);
    for (let turn = 0; turn < 4; turn++) {
      pass(600);
      await fixture.register(SCHEDULE);
    }
    expect(await view({ range: 'bytes=0-0' })).toMatchObject({ by: NAME, status: 206 });

    const unknown = await distribution.view(MEDIA.replace(/.$/, '_'));
    expect(titled(unknown)).toMatchObject({ by: NAME, status: 404 });
    host.passMinute();
    expect(await host.ended).toBe(0);
    fixture.aws.stop(task, 'Essential container in task exited');
    await tell(task);
    expect(fixture.aws.store.size).toBe(0);
    expect(fixture.aws.tasks).toHaveLength(1);

    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(fixture.aws.tasks).toHaveLength(2);
  });

  it('starts no second one when it is full: the client gets 503', async () => {
    const { host } = await awake({ MAX_STREAMS: '1' });
    const secret = fixture.aws.store.get('host')?.split('|')[1] ?? '';
    const held = await openResponse(`http://127.0.0.1:${host.port}${MEDIA}`, {
      'x-reelay-origin': signRequest(secret, { method: 'GET', path: MEDIA }, Math.floor(fixture.now() / 1000)),
    });
    expect(held.statusCode).toBe(200);
    pass(60);
    expect(titled(await view())).toEqual({ by: 'wake', status: 503, title: 'No Capacity', retryAfter: '10' });
    expect(fixture.aws.tasks).toHaveLength(1);
    held.destroy();
  });
});

describe('a deployment while a stream host serves', () => {
  const SUCCESSOR = 'ec2-192-0-2-2.compute-1.amazonaws.com';
  const revisions = () => fixture.aws.tasks.map(({ taskDefinitionArn }) => taskDefinitionArn.split(':').at(-1));

  it.each([
    ['the next resolve', () => fixture.wakeAhead()],
    ['the schedule', () => fixture.register(SCHEDULE)],
  ])('starts a successor by %s, and the old host drains', async (_, happens) => {
    const { task, host } = await awake();
    pass(600);
    fixture.deploy();
    await happens();
    expect(revisions()).toEqual(['1', '2']);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });

    // While it starts no other wake-up starts another.
    pass(20);
    await Promise.all([fixture.wakeAhead(), fixture.wakeAhead(), fixture.register(SCHEDULE)]);
    const successor = newestTask();
    await comesUp(successor, SUCCESSOR);
    await tell(successor);
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    expect([task.desiredStatus, successor.desiredStatus]).toEqual(['STOPPED', 'RUNNING']);
    host.kill();
    fixture.aws.stop(task, 'This stream host gets no requests');
    await tell(task);
    pass(600);
    await fixture.register(SCHEDULE);
    await fixture.wakeAhead();
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: SUCCESSOR, status: 206 });
    expect(revisions()).toEqual(['1', '2']);
  });

  it('keeps the old host serving while no successor can be started', async () => {
    await awake();
    fixture.deploy();
    fixture.aws.interfere = (operation) =>
      operation === 'RunTask' ? { type: 'ClientException', message: 'Capacity is unavailable' } : undefined;
    expect(await fixture.register(SCHEDULE)).toEqual({ change: 'write' });
    expect(await fixture.wakeAhead()).toEqual({ woken: 'refused' });
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: NAME, status: 206 });
    expect(revisions()).toEqual(['1']);
  });
});

describe('failures of the on-demand stream host', () => {
  it('replaces a crashed host with the next stream', async () => {
    const { task, host } = await awake();
    host.kill();
    await host.ended;
    fixture.aws.stop(task, 'Essential container in task exited');
    const next = await Promise.all([view(), view()]);
    for (const each of next) expect(titled(each)).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(fixture.aws.tasks).toHaveLength(2);

    const other = 'ec2-192-0-2-2.compute-1.amazonaws.com';
    await comesUp(newestTask(), other);
    await tell(newestTask());
    expect(await view({ range: 'bytes=0-9' })).toMatchObject({ by: other, status: 206 });
  });

  it('sends nothing to the address of an expired registration', async () => {
    const { task } = await awake();
    await view({ range: 'bytes=0-9' });
    expect(distribution.asked).toEqual([NAME]);
    // No event and no schedule runs.
    fixture.aws.stop(task, 'Idle');
    pass(25 * 60);
    expect(fixture.aws.store.get('host')).toContain(NAME);
    expect(titled(await view())).toMatchObject({ by: 'wake', title: 'Starting the stream host' });
    expect(distribution.asked).toEqual([NAME]);
  });
});
