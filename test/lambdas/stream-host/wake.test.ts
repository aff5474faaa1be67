import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../../lambdas/middleware/event.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, videoTrack } from '../../stream-service/fixture.ts';
import { jsonOf } from '../fakes.ts';
import { CORS_ORIGIN, type OnDemandInstance, startOnDemandInstance } from './instance.ts';

let instance: OnDemandInstance;
beforeEach(async () => {
  instance = await startOnDemandInstance();
  await instance.state.putResource(resourceOf([videoTrack(), audioTrack()]));
});
afterEach(() => instance.close());

const MEDIA = `/api/Stream/Media/${mediaKey('audio')}`;
const COMBINED = `/api/Stream/Combined/${combinedKey()}`;
const runs = () => instance.aws.calls.filter((call) => call === 'RunTask').length;
const answered = ({ statusCode, headers, ...result }: Result) => ({
  status: statusCode,
  title: (jsonOf(result) as { title: string }).title,
  retryAfter: headers?.['retry-after'],
});
const STARTING = { status: 503, title: 'Starting the stream host', retryAfter: '45' };

describe('a stream while no host runs', () => {
  it.each([MEDIA, COMBINED, MEDIA.toLowerCase().replace(mediaKey('audio').toLowerCase(), mediaKey('audio'))])(
    '%s starts one, and says so',
    async (path) => {
      const result = await instance.wake(path);
      expect(result.statusCode).toBe(503);
      expect(jsonOf(result)).toEqual({
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
      expect(instance.aws.tasks).toHaveLength(1);
    },
  );

  it('gives each host a secret of its own', async () => {
    const secrets = [];
    for (const _ of [1, 2]) {
      await instance.wake(MEDIA);
      const [task] = instance.aws.tasks.slice(-1);
      expect(task?.overrides).toEqual({
        containerOverrides: [
          { name: 'stream', environment: [{ name: 'ORIGIN_SECRET', value: expect.stringMatching(/^[\w-]{43}$/) }] },
        ],
      });
      secrets.push(JSON.stringify(task?.overrides));
      if (task) instance.aws.stop(task, 'Idle');
    }
    expect(new Set(secrets).size).toBe(2);
  });

  it('starts one host for many who ask at once', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => instance.wake(MEDIA)));
    expect(results.map(answered)).toEqual(Array(8).fill(STARTING));
    expect(instance.aws.tasks).toHaveLength(1);
    expect(runs()).toBe(1);
  });

  it.each([COMBINED.replace('Combined', 'Media'), MEDIA.replace('Media', 'Combined')])(
    'wakes for a key on the endpoint of the other type: %s',
    async (path) => {
      expect(answered(await instance.wake(path))).toEqual(STARTING);
      expect(runs()).toBe(1);
    },
  );

  it('says HEAD what GET would, and wakes for it', async () => {
    const head = await instance.wake(MEDIA, { method: 'HEAD' });
    expect(head).toMatchObject({ statusCode: 503, headers: { 'retry-after': '45' } });
    expect(head.body).toBeUndefined();
    expect(runs()).toBe(1);
  });

  it('answers a preflight, and wakes for none', async () => {
    const result = await instance.wake(MEDIA, { method: 'OPTIONS', headers: { origin: CORS_ORIGIN } });
    expect(result).toMatchObject({
      statusCode: 204,
      headers: { 'access-control-allow-origin': CORS_ORIGIN, 'access-control-allow-methods': 'GET, HEAD' },
    });
    expect(instance.aws.calls).toEqual([]);
  });

  it('lets a page of an allowed origin read why it waits', async () => {
    const { headers } = await instance.wake(MEDIA, { headers: { origin: CORS_ORIGIN } });
    expect(headers).toMatchObject({ 'access-control-allow-origin': CORS_ORIGIN });
    expect(headers?.['access-control-expose-headers']).toContain('Retry-After');
  });

  it.each([
    ['a key that nobody was given', MEDIA.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['a key of another resource', `/api/Stream/Media/${'x'.repeat(33)}`],
    ['a key that is too short', '/api/Stream/Media/abc'],
    ['a key that is too long', `${MEDIA}A`],
    ['a key that cannot be decoded', '/api/Stream/Media/%ZZ'],
    ['a path that is not there', `${MEDIA}/more`],
    ['another part of the API', '/api/App'],
  ])('%s is not found, and starts nothing', async (_, path) => {
    const result = await instance.wake(path);
    expect(jsonOf(result)).toEqual({ title: 'Resource Not Found', status: 404 });
    expect(instance.aws.calls).toEqual([]);
  });

  it.each(['POST', 'DELETE'])('%s is not allowed, and starts nothing', async (method) => {
    const result = await instance.wake(MEDIA, { method });
    expect(result).toMatchObject({ statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } });
    expect(instance.aws.calls).toEqual([]);
  });

  it('wakes ahead without a key', async () => {
    expect(await instance.wakeAhead()).toEqual({ woken: 'coming' });
    expect(answered(await instance.wake(MEDIA))).toMatchObject({ title: 'Starting the stream host' });
    expect(runs()).toBe(1);
  });
});

describe('a stream while a host comes', () => {
  it('is told less and less to wait, and what for', async () => {
    await instance.wake(MEDIA);
    const [task] = instance.aws.tasks;
    instance.pass(20);
    if (task) task.lastStatus = 'PENDING';
    expect(answered(await instance.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '25' });
    if (task) instance.aws.run(task);
    expect(answered(await instance.wake(MEDIA))).toEqual({
      status: 503,
      title: 'Registering the stream host',
      retryAfter: '5',
    });
    instance.pass(60);
    expect(answered(await instance.wake(MEDIA))).toEqual({ status: 503, title: 'No Capacity', retryAfter: '10' });
    expect(runs()).toBe(1);
  });

  it('starts no second one when the lease has run out over a slow start', async () => {
    await instance.wake(MEDIA);
    instance.pass(600);
    expect(await instance.state.getStreamTask()).toBeUndefined();
    expect(answered(await instance.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '5' });
    expect(runs()).toBe(1);
  });

  it('replaces one that died, once for many who ask', async () => {
    await instance.wake(MEDIA);
    const [task] = instance.aws.tasks;
    if (task) instance.aws.stop(task, 'Essential container in task exited');
    const results = await Promise.all(Array.from({ length: 5 }, () => instance.wake(MEDIA)));
    expect(results.map(answered)).toEqual(Array(5).fill(STARTING));
    expect(instance.aws.tasks).toHaveLength(2);
    expect(instance.logged.filter((line) => line.includes('Essential container'))).toHaveLength(1);
  });
});

describe('a host that cannot be started', () => {
  const unavailable = (retryAfter: string) => ({ status: 503, title: 'No Stream Host Available', retryAfter });
  const fails = async () => answered(await instance.wake(MEDIA));

  it.each([
    ['throttles', { type: 'ThrottlingException', message: 'Rate exceeded' }, '5'],
    ['has no room', { type: 'ClientException', message: 'Capacity is unavailable at this time.' }, '30'],
    ['knows a limit', { type: 'LimitExceededException', message: 'You’ve reached the limit on vCPUs' }, '30'],
    [
      'lists a failure',
      { status: 200, type: '', body: { tasks: [], failures: [{ reason: 'Capacity is unavailable at this time' }] } },
      '30',
    ],
    ['lists a resource', { status: 200, type: '', body: { failures: [{ reason: 'RESOURCE:ENI' }] } }, '5'],
  ])('is said to be so when ECS %s, and tried again by the next', async (_, refusal, retryAfter) => {
    instance.aws.interfere = (operation) => (operation === 'RunTask' ? refusal : undefined);
    expect(await fails()).toEqual(unavailable(retryAfter));
    expect(await instance.state.getStreamTask()).toBeUndefined();
    instance.aws.interfere = undefined;
    expect(await fails()).toEqual(STARTING);
  });

  it('is not started twice when only the answer was lost', async () => {
    instance.aws.interfere = (operation) => (operation === 'RunTask' ? 'answer is lost' : undefined);
    expect(await fails()).toEqual(unavailable('5'));
    // ECS does not list it yet, either.
    const [task] = instance.aws.tasks.splice(0);
    instance.aws.interfere = undefined;
    expect(await fails()).toMatchObject({ title: 'Starting the stream host' });
    if (task) instance.aws.tasks.push(task);
    instance.pass(61);
    expect(await fails()).toMatchObject({ title: 'Starting the stream host' });
    expect(runs()).toBe(1);
  });

  it('is said to be so when ECS does not even tell what runs', async () => {
    instance.aws.interfere = () => 'hang up';
    expect(await fails()).toEqual(unavailable('5'));
    expect(await instance.state.getStreamTask()).toBeUndefined();
  });

  it('is a failure of ours when ECS forbids it, and the lease is given back', async () => {
    const forbidden = { type: 'AccessDeniedException', message: 'no ecs:RunTask' };
    instance.aws.interfere = (operation) => (operation === 'RunTask' ? forbidden : undefined);
    expect(await fails()).toMatchObject({ status: 500 });
    expect(instance.logged.join()).toContain('no ecs:RunTask');
    expect(await instance.state.getStreamTask()).toBeUndefined();
    await expect(instance.wakeAhead()).rejects.toThrow('no ecs:RunTask');
  });

  it('is a failure of ours when ECS gives a reason that does not pass', async () => {
    const inactive = { status: 200, type: '', body: { failures: [{ reason: 'INACTIVE', detail: 'no such cluster' }] } };
    instance.aws.interfere = (operation) => (operation === 'RunTask' ? inactive : undefined);
    expect(await fails()).toMatchObject({ status: 500 });
    expect(instance.logged.join()).toContain('INACTIVE: no such cluster');
    expect(await instance.state.getStreamTask()).toBeUndefined();
  });

  it('is left to the stream itself when it was ahead of it', async () => {
    const full = { type: 'ClientException', message: 'Capacity is unavailable' };
    instance.aws.interfere = (operation) => (operation === 'RunTask' ? full : undefined);
    expect(await instance.wakeAhead()).toEqual({ woken: 'refused' });
  });
});
