import { beforeEach, describe, expect, it } from 'vitest';
import type { Result } from '../../../lambdas/http-handler.ts';
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
const runs = () => fixture.aws.calls.filter((call) => call === 'UpdateService').length;
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
      expect(fixture.aws.service.desiredCount).toBe(1);
    },
  );

  it('starts one host for concurrent requests', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => fixture.wake(MEDIA)));
    for (const result of results) expect(answered(result)).toMatchObject({ status: 503, title: STARTING.title });
    expect(fixture.aws.service.desiredCount).toBe(1);
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

  it.each([MEDIA, '/api/Stream/Archive/Progress/a-job'])(
    'starts and tells nothing for a page of another site: %s',
    async (path) => {
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
      expect((await fixture.wake(path, { headers })).statusCode).toBe(403);
      expect(fixture.aws.calls).toEqual([]);
    },
  );

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
    expect(await fixture.send({ kind: 'ahead' })).toEqual({ host: 'woken' });
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
  it('answers 503 with the activity and a delay, and changes nothing', async () => {
    await fixture.wake(MEDIA);
    expect(answered(await fixture.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '15' });
    fixture.aws.service.runningCount = 1;
    expect(answered(await fixture.wake(MEDIA))).toEqual({
      status: 503,
      title: 'Registering the stream host',
      retryAfter: '5',
    });
    expect(runs()).toBe(1);
  });
});

describe('createWakeOnStream when ECS fails', () => {
  const UNAVAILABLE = { status: 503, title: 'No Stream Host Available', retryAfter: '15' };

  it.each([
    ['throttles', { type: 'ThrottlingException', message: 'Rate exceeded' }],
    ['denies', { type: 'AccessDeniedException', message: 'no ecs:UpdateService' }],
    ['breaks the connection', 'hang up' as const],
    ['has no service', { status: 200, type: '', body: { services: [] } }],
    ['deletes the service', { status: 200, type: '', body: { services: [{ status: 'DRAINING' }] } }],
  ])('answers 503 when it %s, logs why, and the next request tries again', async (_, refusal) => {
    fixture.aws.interfere = () => refusal;
    expect(answered(await fixture.wake(MEDIA))).toEqual(UNAVAILABLE);
    expect(fixture.logged.join()).toMatch(/Rate exceeded|no ecs|socket|no active service on-demand/);
    await expect(fixture.send({ kind: 'ahead' })).rejects.toThrow();
    fixture.aws.interfere = undefined;
    expect(answered(await fixture.wake(MEDIA))).toEqual(STARTING);
  });

  it('starts no second host when only the response of UpdateService was lost', async () => {
    fixture.aws.interfere = (operation) => (operation === 'UpdateService' ? 'answer is lost' : undefined);
    expect(answered(await fixture.wake(MEDIA))).toEqual(UNAVAILABLE);
    fixture.aws.interfere = undefined;
    expect(answered(await fixture.wake(MEDIA))).toMatchObject({ title: STARTING.title });
    expect(fixture.aws.service.desiredCount).toBe(1);
  });
});
