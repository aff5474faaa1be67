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
const PAGE = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
const runs = () => fixture.aws.calls.filter((call) => call === 'UpdateService').length;
const answered = ({ statusCode, headers, ...result }: Result) => ({
  status: statusCode,
  title: result.body ? (jsonOf(result) as { title: string }).title : undefined,
  retryAfter: headers?.['retry-after'],
});
const STARTING = { status: 503, title: 'Starting the stream host', retryAfter: '25' };
const UNAVAILABLE = { status: 503, title: 'No Stream Host Available', retryAfter: '15' };
const ANSWERS = {
  starting: STARTING,
  'starting, to HEAD': { ...STARTING, title: undefined },
  preflight: { status: 204 },
  forbidden: { status: 403, title: expect.any(String) },
  unknown: { status: 404, title: 'Resource Not Found' },
  'not allowed': { status: 405, title: 'Method Not Allowed' },
};

describe('without a running host', () => {
  it.each<[request: string, answer: keyof typeof ANSWERS, headers?: Record<string, string>]>([
    [`GET ${MEDIA}`, 'starting'],
    [`GET ${COMBINED}`, 'starting'],
    [`GET ${MEDIA.toLowerCase().replace(mediaKey('audio').toLowerCase(), mediaKey('audio'))}`, 'starting'],
    // A key at the endpoint of the other type.
    [`GET ${COMBINED.replace('Combined', 'Media')}`, 'starting'],
    [`GET ${MEDIA.replace('Media', 'Combined')}`, 'starting'],
    [`GET ${COMBINED.replace('Combined', 'Hls')}/master.m3u8`, 'starting'],
    [`GET ${MEDIA.replace('Media', 'HLS')}/media.mp4`, 'starting'],
    [`HEAD ${MEDIA}`, 'starting, to HEAD'],
    [`OPTIONS ${MEDIA}`, 'preflight', { origin: CORS_ORIGIN }],
    [`GET ${MEDIA}`, 'forbidden', PAGE],
    ['GET /api/Stream/Archive/Progress/a-job', 'forbidden', PAGE],
    [`GET ${MEDIA.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))}`, 'unknown'],
    // A key of another resource.
    [`GET /api/Stream/Media/${'x'.repeat(33)}`, 'unknown'],
    ['GET /api/Stream/Media/abc', 'unknown'],
    [`GET ${MEDIA}A`, 'unknown'],
    ['GET /api/Stream/Media/%ZZ', 'unknown'],
    [`GET ${MEDIA}/more`, 'unknown'],
    ['GET /api/App', 'unknown'],
    [`POST ${MEDIA}`, 'not allowed'],
  ])('%s is answered as %s, and starts a host only then', async (request, answer, headers = {}) => {
    const [method = '', path = ''] = request.split(' ');
    const result = await fixture.wake(path, { method, headers });
    expect(answered(result)).toMatchObject(ANSWERS[answer]);
    const isStarted = answer.startsWith('starting');
    expect([runs(), fixture.aws.service.desiredCount]).toEqual(isStarted ? [1, 1] : [0, 0]);
    if (!isStarted) expect(fixture.aws.calls).toEqual([]);
  });

  it('tells the delay as a problem that is not to be stored, to pages of allowed origins too', async () => {
    const result = await fixture.wake(MEDIA, { headers: { origin: CORS_ORIGIN } });
    expect(jsonOf(result)).toEqual({
      type: '/problems/starting',
      title: 'Starting the stream host',
      status: 503,
      detail: expect.stringMatching(/Try again/),
    });
    expect(result.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': CORS_ORIGIN,
      'access-control-expose-headers': expect.stringContaining('Retry-After'),
    });
    expect((await fixture.wake(MEDIA, { method: 'POST' })).headers?.allow).toBe('GET, HEAD, OPTIONS');
  });

  it('starts one host for concurrent requests, which are told what it does meanwhile', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, () => fixture.wake(MEDIA)));
    for (const result of results) expect(answered(result)).toMatchObject({ status: 503, title: STARTING.title });
    const wakes = runs();
    expect(fixture.aws.service.desiredCount).toBe(1);
    expect(answered(await fixture.wake(MEDIA))).toEqual({ ...STARTING, retryAfter: '5' });
    fixture.aws.service.runningCount = 1;
    const registering = { status: 503, title: 'Registering the stream host', retryAfter: '5' };
    expect(answered(await fixture.wake(MEDIA))).toEqual(registering);
    expect(runs()).toBe(wakes);
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

describe('when ECS fails', () => {
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
