import { beforeEach, describe, expect, it } from 'vitest';
import { StateUnavailable, StorageFull } from '../../../core/errors/index.ts';
import { clientOfEvent } from '../../../lambdas/http-handler.ts';
import { type ApiFakes, ask, createApiFakes, eventOf, jsonOf } from '../fakes.ts';

const PATH = '/api/Fetch/GetResource';
const LINK = 'HTTPS://media.example/watch?v=1#asked';
const FOR_LINK = `${PATH}?url=${encodeURIComponent(LINK)}`;

let fakes: ApiFakes;
beforeEach(() => {
  fakes = createApiFakes();
});

describe('GET /api/Fetch/GetResource', () => {
  it('sets the deadline 25 s after the request arrived at API Gateway', async () => {
    await ask(fakes, FOR_LINK, { timeEpoch: 1_000_000 });
    expect(fakes.resolves).toEqual([{ url: LINK, deadline: 1_025_000 }]);
  });

  it('describes what a playlist leaves out in X-Playlist', async () => {
    const entry = { url: 'https://media.example/1', title: null, author: null, coverUrl: null };
    const list = { type: 'PlayList' as const, title: 'List', author: null, coverUrl: null, items: [{ entry }] };
    fakes.outcome = list;
    expect((await ask(fakes, FOR_LINK)).headers?.['x-playlist']).toBe('listed=1');
    fakes.outcome = { ...list, totalEntries: 500, nextOffset: 200, unavailable: [2, 17] };
    const counts = 'listed=1, total=500, cut, next=200, unavailable=(2 17)';
    expect((await ask(fakes, FOR_LINK)).headers?.['x-playlist']).toBe(counts);
    fakes.outcome = { ...list, offset: 200, unavailable: [201] };
    const later = await ask(fakes, `${FOR_LINK}&offset=200`);
    expect(later.headers?.['x-playlist']).toBe('listed=1, offset=200, unavailable=(201)');
    expect(fakes.resolves.at(-1)).toMatchObject({ url: LINK, offset: 200 });
  });

  it.each(['-1', '1.5', 'x', '1000000'])('refuses offset=%s', async (offset) => {
    expect((await ask(fakes, `${FOR_LINK}&offset=${offset}`)).statusCode).toBe(400);
  });

  it.each(['failing', 'hanging'] as const)('answers 200 with a %s counter', async (countless) => {
    fakes.countless = countless;
    expect((await ask(fakes, FOR_LINK)).statusCode).toBe(200);
    expect(fakes.logged).toEqual([expect.stringMatching(/Failed to count request/)]);
  });

  it.each([
    ['while the disk has no space, without a resolve', { isFull: true }, 0],
    ['when the disk becomes full during the resolve', { outcome: new StorageFull('No space') }, 1],
  ])('answers 503 %s', async (_, changes, resolves) => {
    const answer = await ask(Object.assign(fakes, changes), FOR_LINK);
    expect(answer.headers?.['retry-after']).toBe('60');
    const detail = 'The instance is out of disk space. Try again later.';
    expect(jsonOf(answer)).toEqual({ type: '/problems/busy', title: 'No Capacity', status: 503, detail });
    expect([fakes.resolves.length, fakes.count]).toEqual([resolves, 0]);
  });

  it.each([
    ['without resolving when the table is unavailable', { isUnavailable: true }, 0],
    ['when the table fails during the resolve', { outcome: new StateUnavailable('gone') }, 1],
  ])('answers 502 %s', async (_, changes, resolves) => {
    const answer = await ask(Object.assign(fakes, changes), FOR_LINK);
    expect(jsonOf(answer)).toEqual({ type: '/problems/service-failed', title: 'Fetch Failed', status: 502 });
    expect(fakes.resolves).toHaveLength(resolves);
  });
});

describe('GET /api/Fetch/GetResource in maintenance', () => {
  it.each<[string, Partial<ApiFakes>]>([
    ['an update', { lease: { activity: 'Updating yt-dlp to 2026.11.20', owner: 'o', expiresAt: 1 } }],
    ['missing tools', { tools: undefined }],
  ])('answers 503 with the activity as the title: %s', async (_, changes) => {
    const answer = await ask(Object.assign(fakes, changes), FOR_LINK);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers?.['retry-after']).toBe('5');
    const title = changes.lease?.activity ?? expect.stringMatching(/tools/);
    expect(jsonOf(answer)).toEqual({
      type: '/problems/maintenance',
      title,
      status: 503,
      detail: expect.stringMatching(/\.$/),
    });
    expect(fakes.resolves).toEqual([]);
  });
});

describe('an unexpected error', () => {
  it('is answered 500 without details and logged with causes, without secrets of URLs', async () => {
    fakes.outcome = new Error('Broke at https://us3r:w0rd@cdn.example/file?token=h1dden#m0re', {
      cause: new TypeError('because'),
    });
    const answer = await ask(fakes, FOR_LINK);
    expect(answer.statusCode).toBe(500);
    expect(jsonOf(answer)).toEqual({ type: '/problems/internal', title: 'Internal Server Error', status: 500 });
    const [line = ''] = fakes.logged;
    expect(line).toMatch(/https:\/\/cdn\.example\/file.+TypeError: because/s);
    expect(line).not.toMatch(/h1dden|w0rd|m0re/);
  });

  it('is logged once when its causes are circular', async () => {
    const error = new Error('round');
    error.cause = error;
    fakes.outcome = error;
    expect((await ask(fakes, FOR_LINK)).statusCode).toBe(500);
    expect(fakes.logged).toHaveLength(1);
  });
});

describe('clientOfEvent', () => {
  const viewer = '203.0.113.7';
  const edge = '192.0.2.1';
  it.each([
    ['of a request without an edge', 'spoofed', false, edge],
    ['that CloudFront appended', `spoofed, ${viewer}`, true, viewer],
    ['that CloudFront appended, before the address that the API appended', `spoofed, ${viewer}, ${edge}`, true, viewer],
    ['by the /56 of its address', '2001:db8:1:2::5', true, '20010db8000100'],
  ])('returns the address %s', async (_, forwarded, isBehindEdge, client) => {
    expect(clientOfEvent(eventOf('/', { headers: { 'x-forwarded-for': forwarded } }), isBehindEdge)).toBe(client);
  });
});
