import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../../core/config/settings.ts';
import { startTask, type Task, type TaskOptions } from '../../../stream-service/task/start-task.ts';
import { readTaskSettings, type TaskSettings } from '../../../stream-service/task/task-settings.ts';
import { ask, type OpenAnswer, open } from '../../support/request.ts';
import { startObjectStore } from '../../support/s3.ts';
import { until } from '../fixture.ts';
import { startWorld, type World } from './fakes.ts';
import { archiveOf, BUCKET, pointerTo, publish } from './releases.ts';

const WORKER = [process.execPath, join(import.meta.dirname, 'quick-worker.mjs'), '--'] as const;
const UNKNOWN = '/api/Stream/Media/unknown';

let world: World;
let task: Task | undefined;
/** Every line of the log. */
let said: string[];
let metrics: Record<string, number>[];
beforeEach(async () => {
  world = await startWorld();
  for (const [name, value] of Object.entries(world.environment)) vi.stubEnv(name, value);
  [said, metrics] = [[], []];
});
afterEach(async () => {
  world.source.release();
  await task?.close();
  task = undefined;
  vi.unstubAllEnvs();
  await world.close();
});

const start = async (traits: Partial<TaskSettings> = {}, options: Partial<TaskOptions> = {}) => {
  const say = (message: string, fields?: object) => void said.push(`${message} ${Object.values(fields ?? {})}`);
  task = await startTask({
    settings: readSettings(world.environment),
    task: { ...readTaskSettings(world.environment), ...traits },
    pace: { lookEvery: 100, retryAfter: 50, linger: 50 },
    drainSeconds: 60,
    onIdle: () => undefined,
    writeMetrics: (line) => void metrics.push(JSON.parse(line)),
    log: { info: say, warn: say, error: say },
    ...options,
  });
  return { task, url: `http://127.0.0.1:${task.port}` };
};
const archives = new Map<string, Promise<Buffer>>();
/** A release that works. */
const release = async (version: string) => {
  const archive = archives.get(version) ?? archiveOf(world.dir, version, WORKER);
  archives.set(version, archive);
  publish(world.store, version, await archive);
};
const version = () => task?.tools.ytDlp()?.version;
const health = async (url: string) => {
  const { status, body } = await ask(`${url}/healthz`);
  return [status, JSON.parse(body.toString())];
};
const whole = async ({ body }: OpenAnswer) => Buffer.from(await body.arrayBuffer()).equals(world.source.content);
const isBroken = ({ body }: OpenAnswer) =>
  body.arrayBuffer().then(
    () => false,
    () => true,
  );

describe('without a pointer', () => {
  it('is healthy, and streams what needs neither yt-dlp nor a new resolve', async () => {
    const { url } = await start();
    world.source.release();
    expect(await health(url)).toEqual([200, { status: 'ok' }]);
    const { status, body } = await ask(url + world.path);
    expect([status, body.equals(world.source.content)]).toEqual([200, true]);
    await until(() => task?.tools.ffmpeg() !== undefined);

    const refused = await ask(url + world.expiredPath);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(refused.body.toString())).toMatchObject({ title: 'Fetching yt-dlp', status: 503 });
    expect(version()).toBeUndefined();
  });

  it('finds it by itself once there is one', async () => {
    await start();
    await until(() => said.some((line) => /not in place .*it has no pointer yet/.test(line)));
    await release('2026.01.01');
    await until(() => version() === '2026.01.01');
  });
});

describe('the bucket', () => {
  it('that cannot be reached at the start is asked until it answers', async () => {
    const { port } = new URL(world.store.endpoint);
    await release('2026.01.01');
    await world.store.close();
    const { url } = await start();
    await until(() => said.some((line) => /not in place .*its pointer cannot be read/.test(line)));
    expect(await health(url)).toEqual([200, { status: 'ok' }]);
    const store = await startObjectStore(Number(port));
    for (const [name, content] of world.store.objects) store.objects.set(name, content);
    await until(() => version() === '2026.01.01');
    await store.close();
  });

  it.each<[string, (archive: Buffer) => string, RegExp]>([
    ['a tampered archive', (archive) => pointerTo('2026.01.02', archive, { sha256: '0'.repeat(64) }), /not the file/],
    ['an archive that is gone', (archive) => pointerTo('2026.01.03', archive), /does not exist/],
    ['a pointer that is none', () => '{}', /its pointer names no release/],
  ])('that holds %s leaves the version in place, and says why', async (_, spoil, reason) => {
    await release('2026.01.01');
    await start();
    await until(() => version() === '2026.01.01');
    const archive = await archiveOf(world.dir, '2026.01.02', WORKER);
    publish(world.store, '2026.01.02', archive);
    world.store.objects.set(`${BUCKET}/current.json`, spoil(archive));
    await until(() => said.some((line) => reason.test(line)));
    expect(version()).toBe('2026.01.01');
  });

  it('that holds a release which does not work leaves it in maintenance, until the pointer moves', async () => {
    publish(world.store, '2026.01.01', await archiveOf(world.dir, '2026.01.01', ['/bin/false']));
    const { url } = await start();
    await until(() => said.some((line) => /not in place .*before it was ready/.test(line)));
    expect([version(), (await health(url))[0]]).toEqual([undefined, 200]);
    await release('2026.01.02');
    await until(() => version() === '2026.01.02');
  });
});

describe('a pointer that moves', () => {
  it('is followed, forwards and back, and no running stream notices', async () => {
    await release('2026.01.01');
    const { url } = await start();
    const answer = await open(url + world.path);
    for (const next of ['2026.01.02', '2026.01.03', '2026.01.04', '2026.01.02']) {
      await release(next);
      await until(() => version() === next);
    }
    const kept = async () => (await readdir(join(world.dir, 'tools', 'yt-dlp'))).filter((name) => name !== 'current');
    await until(async () => (await kept()).length === 3);
    world.source.release();
    expect(await whole(answer)).toBe(true);
  });
});

describe('a running stream', () => {
  it('is protected from ECS while it runs, and counted', async () => {
    const { url } = await start();
    await ask(url + UNKNOWN);
    const answer = await open(url + world.path);
    await until(() => world.agent.states.length === 1);
    expect(world.agent.states).toEqual([{ ProtectionEnabled: true, ExpiresInMinutes: 5 }]);
    await ask(url + world.expiredPath);
    world.source.release();
    expect(await whole(answer)).toBe(true);
    await until(() => world.agent.states.length === 2);
    expect(world.agent.states[1]).toEqual({ ProtectionEnabled: false });

    await task?.close();
    expect(metrics).toEqual([expect.objectContaining({ Stage: 'test', Streams: 0, StreamsStarted: 1, ReResolves: 1 })]);
    const { BytesSent = 0 } = metrics[0] ?? {};
    expect(BytesSent).toBeGreaterThan(world.source.content.length);
    expect(BytesSent).toBeLessThan(world.source.content.length + 1_000);
  });

  it('keeps the task awake, and what is not there does not', async () => {
    const idle = Promise.withResolvers<'idle'>();
    const idleMinutes = 0.005;
    const { url } = await start({ idleMinutes }, { onIdle: () => idle.resolve('idle') });
    const answer = await open(url + world.path);
    const awakeUntil = Date.now() + idleMinutes * 60_000 * 3;
    while (Date.now() < awakeUntil) expect((await ask(url + UNKNOWN)).status).toBe(404);
    expect(await Promise.race([idle.promise, 'awake'])).toBe('awake');
    world.source.release();
    expect(await whole(answer)).toBe(true);
    for (let state: string = 'awake'; state !== 'idle'; state = await Promise.race([idle.promise, 'awake'])) {
      expect((await ask(url + UNKNOWN)).status).toBe(404);
      expect((await ask(url + world.path, { method: 'HEAD' })).status).toBe(200);
    }
    // It is of no service, and ECS refuses to protect it.
    expect(world.agent.states).toEqual([]);
  });
});

describe('the end', () => {
  it('lets a running stream finish, and says that it takes no other', async () => {
    const { url } = await start();
    const answer = await open(url + world.path);
    const closed = task?.close();
    expect(await health(url)).toEqual([503, { status: 'draining' }]);
    expect((await ask(url + world.path)).status).toBe(503);
    world.source.release();
    expect(await whole(answer)).toBe(true);
    await closed;
    await expect(ask(`${url}/healthz`)).rejects.toThrow();
  });

  it('breaks a stream that takes longer than it has, which never looks complete', async () => {
    const { url } = await start({}, { drainSeconds: 0 });
    const answer = await open(url + world.path);
    const broken = isBroken(answer);
    await task?.close();
    expect(await broken).toBe(true);
  });
});

describe('an origin secret', () => {
  it.each<[string, Record<string, string>, number]>([
    ['right', { 'x-reelay-origin': 's3cret' }, 206],
    ['wrong', { 'x-reelay-origin': 's3creT' }, 404],
    ['longer', { 'x-reelay-origin': 's3cret ,s3cret' }, 404],
    ['empty', { 'x-reelay-origin': '' }, 404],
    ['missing', {}, 404],
  ])('that is %s', async (_, headers, status) => {
    const { url } = await start({ originSecret: 's3cret' });
    const answer = await ask(url + world.path, { headers: { range: 'bytes=0-9', ...headers } });
    expect(answer.status).toBe(status);
    if (status === 404) expect(JSON.parse(answer.body.toString())).toEqual({ title: 'Resource Not Found', status });
    const preflight = await ask(url + world.path, { method: 'OPTIONS', headers });
    expect(preflight.status).toBe(status === 404 ? 404 : 204);
    expect(await health(url)).toEqual([200, { status: 'ok' }]);
    expect((await ask(`${url}/healthz?x`, { headers })).status).toBe(status === 404 ? 404 : 200);
  });

  it('is not asked for where there is none', async () => {
    const { url } = await start();
    expect((await ask(url + world.path, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
  });
});
