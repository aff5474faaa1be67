import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSettings } from '../../../core/config/settings.ts';
import { signRequest } from '../../../core/http/access-secrets.ts';
import {
  readTaskSettings,
  startTask,
  type Task,
  type TaskOptions,
  type TaskSettings,
} from '../../../stream-service/task/start-task.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { QUICK_YT_DLP } from '../../support/quick-yt-dlp.ts';
import { type OpenResponse, openResponse, sendRequest } from '../../support/request.ts';
import { addFfmpeg } from '../../support/tools-folder.ts';
import { until } from '../fixture.ts';
import { startTaskFakes, type TaskFakes } from './fakes.ts';
import { archiveOf, publish } from './releases.ts';

const UNKNOWN = '/api/Stream/Media/unknown';

let fakes: TaskFakes;
let task: Task | undefined;
/** Every line of the log. */
let said: string[];
let metrics: Record<string, number>[];
beforeEach(async () => {
  fakes = await startTaskFakes();
  await addFfmpeg(join(fakes.dir, 'tools'));
  for (const [name, value] of Object.entries(fakes.environment)) vi.stubEnv(name, value);
  [said, metrics] = [[], []];
});
afterEach(async () => {
  fakes.source.release();
  await task?.close();
  task = undefined;
  vi.unstubAllEnvs();
  await fakes.close();
});

const start = async (traits: Partial<TaskSettings> = {}, options: Partial<TaskOptions> = {}) => {
  const say = (message: string, fields?: object) => void said.push(`${message} ${Object.values(fields ?? {})}`);
  task = await startTask({
    settings: readSettings(fakes.environment),
    task: { ...readTaskSettings(fakes.environment), ...traits },
    timing: { updateIntervalMs: 100, retryDelayMs: 50, releaseDelayMs: 50 },
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
  const archive = archives.get(version) ?? archiveOf(fakes.dir, version, QUICK_YT_DLP);
  archives.set(version, archive);
  publish(fakes.store, version, await archive);
};
const version = () => task?.tools.ytDlp()?.version;
const health = async (url: string) => {
  const { status, body } = await sendRequest(`${url}/healthz`);
  return [status, JSON.parse(body.toString())];
};
const whole = async ({ body }: OpenResponse) => Buffer.from(await body.arrayBuffer()).equals(fakes.source.content);
const isBroken = ({ body }: OpenResponse) =>
  body.arrayBuffer().then(
    () => false,
    () => true,
  );

describe('startTask without a tools pointer', () => {
  it('is healthy and streams what needs neither yt-dlp nor a resolve', async () => {
    const { url } = await start();
    fakes.source.release();
    expect(await health(url)).toEqual([200, { status: 'ok' }]);
    const { status, body } = await sendRequest(url + fakes.path);
    expect([status, body.equals(fakes.source.content)]).toEqual([200, true]);
    await until(() => task?.tools.ffmpeg() !== undefined);

    const refused = await sendRequest(url + fakes.expiredPath);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(refused.body.toString())).toMatchObject({ title: 'Downloading yt-dlp', status: 503 });
    expect(version()).toBeUndefined();
  });

  it('installs yt-dlp when the pointer appears, but no release that fails its smoke test', async () => {
    const { url } = await start();
    const failed = (why: RegExp) => until(() => said.some((line) => /tools failed /.test(line) && why.test(line)));
    await failed(/it has no pointer yet/);
    publish(fakes.store, '2026.01.01', await archiveOf(fakes.dir, '2026.01.01', ['/bin/false']));
    await failed(/before it was ready/);
    expect([version(), (await health(url))[0]]).toEqual([undefined, 200]);
    await release('2026.01.02');
    await until(() => version() === '2026.01.02');
  });
});

describe('startTask when the pointer changes', () => {
  it('follows it to newer and older releases without affecting running streams', async () => {
    await release('2026.01.01');
    const { url } = await start();
    const answer = await openResponse(url + fakes.path);
    for (const next of ['2026.01.02', '2026.01.03', '2026.01.04', '2026.01.02']) {
      await release(next);
      await until(() => version() === next);
    }
    const kept = async () => (await readdir(join(fakes.dir, 'tools', 'yt-dlp'))).filter((name) => name !== 'current');
    await until(async () => (await kept()).length === 3);
    fakes.source.release();
    expect(await whole(answer)).toBe(true);
  });
});

describe('startTask with a running stream', () => {
  it('protects the task and counts the stream', async () => {
    const { url } = await start();
    await sendRequest(url + UNKNOWN);
    const answer = await openResponse(url + fakes.path);
    await until(() => fakes.agent.states.length === 1);
    expect(fakes.agent.states).toEqual([{ ProtectionEnabled: true, ExpiresInMinutes: 5 }]);
    await sendRequest(url + fakes.expiredPath);
    fakes.source.release();
    expect(await whole(answer)).toBe(true);
    await until(() => fakes.agent.states.length === 2);
    expect(fakes.agent.states[1]).toEqual({ ProtectionEnabled: false });

    await task?.close();
    expect(metrics).toEqual([expect.objectContaining({ Stage: 'test', Streams: 0, StreamsStarted: 1, ReResolves: 1 })]);
    const { BytesSent = 0 } = metrics[0] ?? {};
    expect(BytesSent).toBeGreaterThan(fakes.source.content.length);
    expect(BytesSent).toBeLessThan(fakes.source.content.length + 1_000);
  });

  it('is not idle; a request answered 404 does not count as a stream', async () => {
    const idle = Promise.withResolvers<'idle'>();
    const idleMinutes = 0.02;
    const { url } = await start({ idleMinutes }, { onIdle: () => idle.resolve('idle') });
    const answer = await openResponse(url + fakes.path);
    const awakeUntil = Date.now() + idleMinutes * 60_000 * 2;
    while (Date.now() < awakeUntil) expect((await sendRequest(url + UNKNOWN)).status).toBe(404);
    expect(await Promise.race([idle.promise, 'awake'])).toBe('awake');
    fakes.source.release();
    expect(await whole(answer)).toBe(true);
    for (let state: string = 'awake'; state !== 'idle'; state = await Promise.race([idle.promise, 'awake'])) {
      expect((await sendRequest(url + UNKNOWN)).status).toBe(404);
      expect((await sendRequest(url + fakes.path, { method: 'HEAD' })).status).toBe(200);
    }
  });
});

describe('Task.close', () => {
  it('lets a running stream finish and reports draining', async () => {
    const { url } = await start();
    const answer = await openResponse(url + fakes.path);
    const closed = task?.close();
    expect(await health(url)).toEqual([503, { status: 'draining' }]);
    expect((await sendRequest(url + fakes.path)).status).toBe(503);
    fakes.source.release();
    expect(await whole(answer)).toBe(true);
    await closed;
    await expect(sendRequest(`${url}/healthz`)).rejects.toThrow();
  });

  it('breaks the connection of a stream that exceeds the drain time', async () => {
    const { url } = await start({}, { drainSeconds: 0 });
    const answer = await openResponse(url + fakes.path);
    const broken = isBroken(answer);
    await task?.close();
    expect(await broken).toBe(true);
  });
});

describe('origin secret', () => {
  /** A task that has told its secret to the function that registers it. */
  const registered = async () => {
    const secret = Promise.withResolvers<string>();
    const server = createServer(async (request, response) => {
      const sent = Object(request.method === 'POST' ? await json(request) : {});
      response.end(JSON.stringify({ Networks: [{ MACAddress: '02:01' }] }));
      if (sent.kind === 'serving') secret.resolve(sent.secret);
    });
    const agent = closeAfterwards(await listen(server));
    vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', agent.url);
    const { url } = await start({ hostFunction: 'wake', metadataUri: agent.url });
    return { url, secret: await secret.promise };
  };
  const signed = (method: string, secret: string, { path = fakes.path, at = 0 } = {}) => ({
    'x-reelay-origin': signRequest(secret, { method, path }, Math.floor(Date.now() / 1000) + at),
  });
  it.each<[string, (method: string, secret: string) => Record<string, string>, number]>([
    ['right', signed, 206],
    ['of another secret', (method) => signed(method, 'another'), 404],
    ['of another path', (method, secret) => signed(method, secret, { path: '/api/Stream/Media' }), 404],
    ['of another method', (_, secret) => signed('POST', secret), 404],
    ['too old', (method, secret) => signed(method, secret, { at: -90 }), 404],
    ['of a time to come', (method, secret) => signed(method, secret, { at: 90 }), 404],
    ['the secret itself', (_, secret) => ({ 'x-reelay-origin': secret }), 404],
    ['empty', () => ({ 'x-reelay-origin': '' }), 404],
    ['missing', () => ({}), 404],
  ])('signature that is %s', async (_, headersOf, status) => {
    const { url, secret } = await registered();
    const headers = headersOf('GET', secret);
    const answer = await sendRequest(url + fakes.path, { headers: { range: 'bytes=0-9', ...headers } });
    expect(answer.status).toBe(status);
    const problem = { type: '/problems/not-found', title: 'Resource Not Found', status };
    if (status === 404) expect(JSON.parse(answer.body.toString())).toEqual(problem);
    const preflight = await sendRequest(url + fakes.path, { method: 'OPTIONS', headers: headersOf('OPTIONS', secret) });
    expect(preflight.status).toBe(status === 404 ? 404 : 204);
    expect(await health(url)).toEqual([200, { status: 'ok' }]);
    expect((await sendRequest(`${url}/healthz?x`, { headers })).status).toBe(404);
  });

  it('is not required when none is set', async () => {
    const { url } = await start();
    expect((await sendRequest(url + fakes.path, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
  });
});
