import { beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../../lambdas/middleware/create-handler.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { jsonOf } from '../fakes.ts';
import { CORS_ORIGIN, type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

let fixture: OnDemandFixture;
beforeEach(async () => {
  fixture = await startOnDemandFixture();
  await fixture.state.putResource(resourceOf([videoTrack(), audioTrack()]));
});

const MEDIA = `/api/Stream/Media/${mediaKey('audio')}`;
const COMBINED = `/api/Stream/Combined/${combinedKey()}`;
const runs = () => fixture.aws.calls.filter((call) => call === 'RunTask').length;
const answered = ({ statusCode, headers, ...result }: Result) => ({
  status: statusCode,
  title: (jsonOf(result) as { title: string }).title,
  retryAfter: headers?.['retry-after'],
});
const STARTING = { status: 503, title: 'Starting the stream host', retryAfter: '45' };

describe('createWakeOnStream without a running host', () => {
  it.each([MEDIA, COMBINED, MEDIA.toLowerCase().replace(mediaKey('audio').toLowerCase(), mediaKey('audio'))])(
    'starts a host for %s and answers 503 with the delay',
    async (path) => {
      const result = await fixture.wake(path);
      expect(result.statusCode).toBe(503);
      expect(jsonOf(result)).toEqual({
        type: '/problems/starting',
        title: 'Starting the stream host',
        status: 503,
        detail: expect.stringMatching(/Try again/),
      });
      expect(result.headers).toMatchObject({
        'retry-after': '45',
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
      expect(fixture.aws.tasks).toHaveLength(1);
    },
  );

  it('starts each host with its own secret', async () => {
    const secrets = [];
    for (const _ of [1, 2]) {
      await fixture.wake(MEDIA);
      const [task] = fixture.aws.tasks.slice(-1);
      expect(task?.overrides).toEqual({
        containerOverrides: [
          { name: 'stream', environment: [{ name: 'ORIGIN_SECRET', value: expect.stringMatching(/^[\w-]{43}$/) }] },
        ],
      });
      secrets.push(JSON.stringify(task?.overrides));
      if (task) fixture.aws.stop(task, 'Idle');
    }
    expect(new Set(secrets).size).toBe(2);
  });

  it('starts one host for concurrent requests', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => fixture.wake(MEDIA)));
    expect(results.map(answered)).toEqual(Array(8).fill(STARTING));
    expect(fixture.aws.tasks).toHaveLength(1);
    expect(runs()).toBe(1);
  });

  it.each([
    COMBINED.replace('Combined', 'Media'),
    MEDIA.replace('Media', 'Combined'),
    `${COMBINED.replace('Combined', 'Hls')}/master.m3u8`,
    `${MEDIA.replace('Media', 'HLS')}/media.mp4`,
  ])('starts a host for a key at the endpoint of the other type: %s', async (path) => {
    expect(answered(await fixture.wake(path))).toEqual(STARTING);
    expect(runs()).toBe(1);
  });

  it('answers HEAD like GET and starts a host', async () => {
    const head = await fixture.wake(MEDIA, { method: 'HEAD' });
    expect(head).toMatchObject({ statusCode: 503, headers: { 'retry-after': '45' } });
    expect(head.body).toBeUndefined();
    expect(runs()).toBe(1);
  });

  it('answers a preflight without starting a host', async () => {
    const result = await fixture.wake(MEDIA, { method: 'OPTIONS', headers: { origin: CORS_ORIGIN } });
    expect(result).toMatchObject({
      statusCode: 204,
      headers: { 'access-control-allow-origin': CORS_ORIGIN, 'access-control-allow-methods': 'GET, HEAD' },
    });
    expect(fixture.aws.calls).toEqual([]);
  });

  it('exposes the reason and Retry-After to pages of allowed origins', async () => {
    const { headers } = await fixture.wake(MEDIA, { headers: { origin: CORS_ORIGIN } });
    expect(headers).toMatchObject({ 'access-control-allow-origin': CORS_ORIGIN });
    expect(headers?.['access-control-expose-headers']).toContain('Retry-After');
  });

  it.each([
    ['an unknown key', MEDIA.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['a key of another resource', `/api/Stream/Media/${'x'.repeat(33)}`],
    ['a key that is too short', '/api/Stream/Media/abc'],
    ['a key that is too long', `${MEDIA}A`],
    ['a key that cannot be decoded', '/api/Stream/Media/%ZZ'],
    ['an unknown path', `${MEDIA}/more`],
    ['another part of the API', '/api/App'],
  ])('answers 404 without starting a host: %s', async (_, path) => {
    const result = await fixture.wake(path);
    expect(jsonOf(result)).toEqual({ type: '/problems/not-found', title: 'Resource Not Found', status: 404 });
    expect(fixture.aws.calls).toEqual([]);
  });

  it.each(['POST', 'DELETE'])('answers 405 to %s without starting a host', async (method) => {
    const result = await fixture.wake(MEDIA, { method });
    expect(result).toMatchObject({ statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect(fixture.aws.calls).toEqual([]);
  });

  it('starts a host ahead of a stream, without a key', async () => {
    expect(await fixture.wakeAhead()).toEqual({ woken: 'coming' });
    expect(answered(await fixture.wake(MEDIA))).toMatchObject({ title: 'Starting the stream host' });
    expect(runs()).toBe(1);
  });
});

describe('the progress of an archive while no host runs', () => {
  const ask = (jobId: string, headers = {}) => fixture.wake(`/api/stream/archive/PROGRESS/${jobId}`, { headers });
  const building = { state: 'building' as const, total: 2, completed: 0, current: null, skipped: 0 };

  it('is that of the table, and clients ask again', async () => {
    await fixture.state.putArchiveProgress('Job.1', building);
    const { statusCode, headers, body } = await ask('Job.1');
    expect([statusCode, headers?.['content-type'], headers?.['cache-control']]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    expect(body).toMatch(/^id: \d{13}\nretry: 3000\n\ndata: \{.*\}\n\n$/);
    expect(JSON.parse(body?.split('data: ')[1] ?? '')).toEqual(building);
    expect(fixture.aws.calls).toEqual([]);
  });

  it('of an unknown job has failed half a minute after the first request', async () => {
    const since = Date.now();
    const first = await ask('unknown', { 'last-event-id': String(since) });
    expect(first.body).toBe(`id: ${since}\nretry: 3000\n\n`);
    const last = await ask('unknown', { 'last-event-id': String(since - 30_000) });
    expect(last.body).toMatch(/data: \{"state":"failed",/);
  });

  it('answers 400 to a malformed id, and 404 without one', async () => {
    expect((await ask('%20')).statusCode).toBe(400);
    expect((await ask('')).statusCode).toBe(404);
  });
});

describe('createWakeOnStream while a host starts', () => {
  it('answers 503 with the activity and the remaining delay', async () => {
    await fixture.wake(MEDIA);
    const [task] = fixture.aws.tasks;
    fixture.pass(20);
    if (task) task.lastStatus = 'PENDING';
    expect(answered(await fixture.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '25' });
    if (task) fixture.aws.run(task);
    expect(answered(await fixture.wake(MEDIA))).toEqual({
      status: 503,
      title: 'Registering the stream host',
      retryAfter: '5',
    });
    fixture.pass(60);
    expect(answered(await fixture.wake(MEDIA))).toEqual({ status: 503, title: 'No Capacity', retryAfter: '10' });
    expect(runs()).toBe(1);
  });

  it('starts no second host when the lease expires during a slow start', async () => {
    await fixture.wake(MEDIA);
    fixture.pass(600);
    expect(await fixture.state.getStreamTask()).toBeUndefined();
    expect(answered(await fixture.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '5' });
    expect(runs()).toBe(1);
  });

  it('replaces a stopped host once for concurrent requests', async () => {
    await fixture.wake(MEDIA);
    const [task] = fixture.aws.tasks;
    if (task) fixture.aws.stop(task, 'Essential container in task exited');
    const results = await Promise.all(Array.from({ length: 5 }, () => fixture.wake(MEDIA)));
    expect(results.map(answered)).toEqual(Array(5).fill(STARTING));
    expect(fixture.aws.tasks).toHaveLength(2);
    expect(fixture.logged.filter((line) => line.includes('Essential container'))).toHaveLength(1);
  });
});

describe('createWakeOnStream when ECS fails', () => {
  const unavailable = (retryAfter: string) => ({ status: 503, title: 'No Stream Host Available', retryAfter });
  const fails = async () => answered(await fixture.wake(MEDIA));

  it.each([
    ['throttles', { type: 'ThrottlingException', message: 'Rate exceeded' }, '5'],
    ['has no capacity', { type: 'ClientException', message: 'Capacity is unavailable at this time.' }, '30'],
    ['reports a limit', { type: 'LimitExceededException', message: 'You’ve reached the limit on vCPUs' }, '30'],
    [
      'lists a failure',
      { status: 200, type: '', body: { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time' }] } },
      '30',
    ],
    ['lists a missing resource', { status: 200, type: '', body: { failures: [{ reason: 'RESOURCE:ENI' }] } }, '5'],
  ])('answers 503 when ECS %s, and the next request tries again', async (_, refusal, retryAfter) => {
    fixture.aws.interfere = (operation) => (operation === 'RunTask' ? refusal : undefined);
    expect(await fails()).toEqual(unavailable(retryAfter));
    expect(await fixture.state.getStreamTask()).toBeUndefined();
    fixture.aws.interfere = undefined;
    expect(await fails()).toEqual(STARTING);
  });

  it('starts no second host when only the response of RunTask was lost', async () => {
    fixture.aws.interfere = (operation) => (operation === 'RunTask' ? 'answer is lost' : undefined);
    expect(await fails()).toEqual(unavailable('5'));
    // ECS does not list the task yet.
    const [task] = fixture.aws.tasks.splice(0);
    fixture.aws.interfere = undefined;
    expect(await fails()).toMatchObject({ title: 'Starting the stream host' });
    if (task) fixture.aws.tasks.push(task);
    fixture.pass(61);
    expect(await fails()).toMatchObject({ title: 'Starting the stream host' });
    expect(runs()).toBe(1);
  });

  it('answers 503 when tasks cannot be listed', async () => {
    fixture.aws.interfere = () => 'hang up';
    expect(await fails()).toEqual(unavailable('5'));
    expect(await fixture.state.getStreamTask()).toBeUndefined();
  });

  it('answers 500 and releases the lease when access is denied', async () => {
    const forbidden = { type: 'AccessDeniedException', message: 'no ecs:RunTask' };
    fixture.aws.interfere = (operation) => (operation === 'RunTask' ? forbidden : undefined);
    expect(await fails()).toMatchObject({ status: 500 });
    expect(fixture.logged.join()).toContain('no ecs:RunTask');
    expect(await fixture.state.getStreamTask()).toBeUndefined();
    await expect(fixture.wakeAhead()).rejects.toThrow('no ecs:RunTask');
  });

  it('answers 500 for a permanent failure of RunTask', async () => {
    const inactive = { status: 200, type: '', body: { failures: [{ reason: 'INACTIVE', detail: 'no such cluster' }] } };
    fixture.aws.interfere = (operation) => (operation === 'RunTask' ? inactive : undefined);
    expect(await fails()).toMatchObject({ status: 500 });
    expect(fixture.logged.join()).toContain('INACTIVE: no such cluster');
    expect(await fixture.state.getStreamTask()).toBeUndefined();
  });

  it('reports a refused wake-up ahead of a stream without failing', async () => {
    const full = { type: 'ClientException', message: 'Capacity is unavailable' };
    fixture.aws.interfere = (operation) => (operation === 'RunTask' ? full : undefined);
    expect(await fixture.wakeAhead()).toEqual({ woken: 'refused' });
  });
});
