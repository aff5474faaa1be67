import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { linkId } from '../../../core/state/keys.ts';
import type { WorkerFailure } from '../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';
import { asProblem } from '../../support/as-problem.ts';
import { createFixture, type Info, item, list, listed, PAGE } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const TIMEOUT: WorkerFailure = { kind: 'timeout' };
type Fixture = ReturnType<typeof createFixture>;
const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const requested = ({ workers }: Fixture) => workers[0]?.pending.length ?? 0;

/** Answers a request, counted from 1, once it is made. */
async function respond(fixture: Fixture, number: number, response: Info | WorkerFailure, seconds = 0) {
  await expect.poll(() => requested(fixture)).toBe(number);
  pass(seconds);
  const request = fixture.workers[0]?.pending[number - 1];
  if ('kind' in response) request?.fail(response as WorkerFailure);
  else request?.answer(response);
}

/** A resolve whose site does not answer within some seconds. */
async function stall(fixture: Fixture, client: string | undefined, seconds = 25, failed: WorkerFailure = TIMEOUT) {
  const count = requested(fixture);
  const failure = asProblem(fixture.resolve(PAGE, { client })).catch((error: unknown) => error);
  await respond(fixture, count + 1, failed, seconds);
  return failure;
}

/** Resolves a list for the client `a`, whose only entry does not answer within some seconds. */
async function stallEntry(fixture: Fixture, seconds: number) {
  const resolved = fixture.resolve(PAGE, { client: 'a' });
  await respond(fixture, 1, list(listed('slow')));
  await respond(fixture, 2, TIMEOUT, seconds);
  return resolved;
}

const timedOut = (seconds: number) => ({
  details: { status: 502, type: expect.stringContaining('site-timeout') },
  headers: { 'retry-after': String(seconds) },
});

it('a client gets the failure of a link that has timed out at once, and another client an attempt', async () => {
  const fixture = createFixture();
  expect(await stall(fixture, 'a')).toMatchObject(timedOut(180));
  pass(60);
  await expect(asProblem(fixture.resolve(PAGE, { client: 'a' }))).rejects.toMatchObject(timedOut(120));
  expect(requested(fixture)).toBe(1);
  expect(await stall(fixture, 'b')).toMatchObject(timedOut(180));
  for (const client of ['a', 'b'])
    await expect(asProblem(fixture.resolve(PAGE, { client }))).rejects.toMatchObject({ details: { status: 502 } });
  expect(requested(fixture)).toBe(2);
  expect(JSON.stringify(fixture.links.get(linkId(PAGE)))).not.toContain('"a"');
});

it('the link is tried again after some minutes', async () => {
  const fixture = createFixture();
  await stall(fixture, 'a');
  pass(181);
  const again = fixture.resolve(PAGE, { client: 'a' });
  await respond(fixture, 2, item('1'));
  expect(await again).toMatchObject({ type: 'Media' });
});

it('a success for another client ends it for all', async () => {
  const fixture = createFixture();
  await stall(fixture, 'a');
  const other = fixture.resolve(PAGE, { client: 'b' });
  await respond(fixture, 2, item('1'));
  await other;
  expect(await fixture.resolve(PAGE, { client: 'a' })).toMatchObject({ type: 'Media' });
  expect(requested(fixture)).toBe(2);
});

it.each<[string, string | undefined, number]>([
  ['took a few seconds', 'a', 5],
  ['was for no client', undefined, 25],
])('a failure that %s is not remembered', async (_, client, seconds) => {
  const fixture = createFixture();
  await stall(fixture, client, seconds);
  await stall(fixture, 'a');
  expect(requested(fixture)).toBe(2);
});

it('another failure is not remembered, however long it took', async () => {
  const fixture = createFixture();
  const failure = await stall(fixture, 'a', 25, { kind: 'http', httpStatus: 500 });
  expect(failure).toMatchObject({ details: { status: 502 } });
  expect(fixture.links.size).toBe(0);
});

it('a table that fails does not change the failure', async () => {
  const fail = async () => Promise.reject(new Error('unreachable'));
  const absent = async () => undefined;
  const state = { getLink: absent, getResource: absent, putLink: fail, putResource: fail, touchResource: absent };
  expect(await stall(createFixture(undefined, { state }), 'a')).toMatchObject(timedOut(180));
});

it('an entry of a list that stalls is not asked again for the client, and is asked for another', async () => {
  const entry = 'https://media.example/slow';
  const fixture = createFixture();
  expect(await stallEntry(fixture, 25)).toMatchObject({ items: [{ entry: { url: entry } }] });
  expect(await fixture.resolve(PAGE, { client: 'a' })).toMatchObject({ items: [{ entry: { url: entry } }] });
  expect(requested(fixture)).toBe(2);
  const other = fixture.resolve(PAGE, { client: 'b' });
  await respond(fixture, 3, item('1'));
  expect(await other).toMatchObject({ items: [{ resource: { title: 'Title 1' } }] });
});

it('an entry that the deadline of its list has cut off is asked again', async () => {
  const fixture = createFixture();
  expect(await stallEntry(fixture, 60)).not.toHaveProperty('items.0.resource');
  const second = fixture.resolve(PAGE, { client: 'a' });
  await respond(fixture, 3, item('1'));
  expect(await second).toMatchObject({ items: [{ resource: { title: 'Title 1' } }] });
});

it('a link that waited for yt-dlp until its deadline is a failure of the service, and not remembered', async () => {
  const fixture = createFixture(undefined, { concurrency: 1 });
  const leaving = new AbortController();
  const running = fixture.resolve('https://media.example/long', { client: 'b', signal: leaving.signal });
  await expect.poll(() => requested(fixture)).toBe(1);
  const waiting = fixture.resolve(PAGE, { client: 'a', deadline: Date.now() + 20 });
  await expect(waiting).rejects.toMatchObject({ reason: 'service-failed' });
  expect(fixture.links.size).toBe(0);
  leaving.abort(new Error('left'));
  await expect(running).rejects.toThrow('left');
});
