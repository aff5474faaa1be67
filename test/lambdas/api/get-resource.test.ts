import { beforeEach, describe, expect, it } from 'vitest';
import { problems } from '../../../core/api/problem.ts';
import { StateUnavailable } from '../../../core/errors/errors.ts';
import { clientOfEvent } from '../../../lambdas/middleware/event.ts';
import { ask, createWorld, eventOf, jsonOf, type World } from '../fakes.ts';

const PATH = '/api/Fetch/GetResource';
const LINK = 'HTTPS://media.example/watch?v=1#asked';
const FOR_LINK = `${PATH}?url=${encodeURIComponent(LINK)}`;

let world: World;
beforeEach(() => {
  world = createWorld();
});

describe('GET /api/Fetch/GetResource', () => {
  it('answers what the link is, under the string that the caller sent, and counts it', async () => {
    const answer = await ask(world, FOR_LINK);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers?.['cache-control']).toBe('no-store');
    expect(jsonOf(answer)).toMatchObject({ type: 'Media', title: 'Title', mediaItems: [{ requestedUrl: LINK }] });
    expect(world.resolves.map(({ url }) => url)).toEqual([LINK]);
    expect(world.count).toBe(1);
  });

  it('counts the 25 seconds of a resolve from when the request came in', async () => {
    await ask(world, FOR_LINK, { timeEpoch: 1_000_000 });
    expect(world.resolves).toEqual([{ url: LINK, deadline: 1_025_000 }]);
  });

  it('counts a playlist once', async () => {
    const entry = { url: 'https://media.example/1', title: null, author: null, coverUrl: null };
    const items = [{ entry }, { entry }];
    world.outcome = { type: 'PlayList', title: 'List', author: null, coverUrl: null, items };
    expect(jsonOf(await ask(world, FOR_LINK))).toMatchObject({ type: 'PlayList', mediaItems: [{}, {}] });
    expect(world.count).toBe(1);
  });

  it.each(['failing', 'hanging'] as const)('is answered with a %s counter', async (countless) => {
    world.countless = countless;
    expect((await ask(world, FOR_LINK)).statusCode).toBe(200);
    expect(world.logged).toEqual([expect.stringMatching(/not counted/)]);
  });

  it.each([
    problems.notFound(),
    problems.notDeliverable('The media is DRM protected.'),
    problems.fetchFailed(new Error('reset')),
  ])('passes on what the resolve ended with: $details.title', async (problem) => {
    world.outcome = problem;
    const answer = await ask(world, FOR_LINK);
    expect(answer.statusCode).toBe(problem.details.status);
    expect(jsonOf(answer)).toEqual(problem.details);
    expect(world.count).toBe(0);
  });

  it('is 502 when the table goes away on the way', async () => {
    world.outcome = new StateUnavailable('gone');
    expect(jsonOf(await ask(world, FOR_LINK))).toEqual({ title: 'Fetch Failed', status: 502 });
  });

  it('is 502 at once when the table is away', async () => {
    world.dead = true;
    expect(jsonOf(await ask(world, FOR_LINK))).toEqual({ title: 'Fetch Failed', status: 502 });
    expect(world.resolves).toEqual([]);
  });
});

describe('in maintenance', () => {
  it.each<[string, Partial<World>]>([
    ['an update', { lease: { activity: 'Updating yt-dlp to 2026.11.20', owner: 'o', expiresAt: 1 } }],
    ['tools that were never installed', { tools: undefined }],
  ])('%s is 503 with the activity for a title', async (_, changes) => {
    const answer = await ask(Object.assign(world, changes), FOR_LINK);
    expect(answer.statusCode).toBe(503);
    expect(answer.headers?.['retry-after']).toBe('5');
    const title = changes.lease?.activity ?? expect.stringMatching(/tools/);
    expect(jsonOf(answer)).toEqual({ title, status: 503, detail: expect.stringMatching(/\.$/) });
    expect(world.resolves).toEqual([]);
  });

  it('a link that is malformed is still 400', async () => {
    world.tools = undefined;
    expect((await ask(world, `${PATH}?url=nonsense`)).statusCode).toBe(400);
  });
});

describe('a failure that nobody foresaw', () => {
  it('is 500 to the caller and in full for the log, without what links carry', async () => {
    world.outcome = new Error('Broke at https://user:word@cdn.example/file?token=hidden#more', {
      cause: new TypeError('because'),
    });
    const answer = await ask(world, FOR_LINK);
    expect(answer.statusCode).toBe(500);
    expect(jsonOf(answer)).toEqual({ title: 'Internal Server Error', status: 500 });
    const [line = ''] = world.logged;
    expect(line).toMatch(/https:\/\/cdn\.example\/file.+TypeError: because/s);
    expect(line).not.toMatch(/hidden|word|more/);
  });

  it('is logged once when its causes go round', async () => {
    const error = new Error('round');
    error.cause = error;
    world.outcome = error;
    expect((await ask(world, FOR_LINK)).statusCode).toBe(500);
    expect(world.logged).toHaveLength(1);
  });
});

describe('client of GetResource', () => {
  const viewer = '203.0.113.7';
  const edge = '192.0.2.1';
  it.each([
    ['of a request without an edge', 'spoofed', false, edge],
    ['that CloudFront appended', `spoofed, ${viewer}`, true, viewer],
    ['that CloudFront appended, before the address that the API appended', `spoofed, ${viewer}, ${edge}`, true, viewer],
    ['by the /64 of its address', '2001:db8:1:2::5', true, '20010db800010002'],
  ])('is the address %s', async (_, forwarded, isBehindEdge, client) => {
    expect(clientOfEvent(eventOf('/', { headers: { 'x-forwarded-for': forwarded } }), isBehindEdge)).toBe(client);
  });
});
