import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { linkId } from '../../../core/state/keys.ts';
import { asProblem } from '../../support/as-problem.ts';
import { createFixture, item, list, listed, PAGE } from './fixture.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Fixture = ReturnType<typeof createFixture>;
const pass = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000);
const requested = ({ workers }: Fixture) => workers[0]?.pending.length ?? 0;

/** A resolve whose site does not answer within some seconds. */
async function stall(fixture: Fixture, client: string | undefined, seconds = 25) {
  const count = requested(fixture);
  const failure = asProblem(fixture.resolve(PAGE, { client })).catch((error: unknown) => error);
  await expect.poll(() => requested(fixture)).toBe(count + 1);
  pass(seconds);
  fixture.workers[0]?.pending.at(-1)?.fail({ kind: 'timeout' });
  return failure;
}

/** Resolves a list for the client `a`, whose only entry does not answer within some seconds. */
async function stallEntry(fixture: Fixture, seconds: number) {
  const resolved = fixture.resolve(PAGE, { client: 'a' });
  await expect.poll(() => requested(fixture)).toBe(1);
  fixture.workers[0]?.pending[0]?.answer(list(listed('slow')));
  await expect.poll(() => requested(fixture)).toBe(2);
  pass(seconds);
  fixture.workers[0]?.pending[1]?.fail({ kind: 'timeout' });
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
  await expect.poll(() => requested(fixture)).toBe(2);
  fixture.workers[0]?.pending[1]?.answer(item('1'));
  expect(await again).toMatchObject({ type: 'Media' });
});

it('a success for another client ends it for all', async () => {
  const fixture = createFixture();
  await stall(fixture, 'a');
  const other = fixture.resolve(PAGE, { client: 'b' });
  await expect.poll(() => requested(fixture)).toBe(2);
  fixture.workers[0]?.pending[1]?.answer(item('1'));
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
  const failure = asProblem(fixture.resolve(PAGE, { client: 'a' })).catch((error: unknown) => error);
  await expect.poll(() => requested(fixture)).toBe(1);
  pass(25);
  fixture.workers[0]?.pending[0]?.fail({ kind: 'http', httpStatus: 500 });
  expect(await failure).toMatchObject({ details: { status: 502 } });
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
  const first = stallEntry(fixture, 25);
  expect(await first).toMatchObject({ items: [{ entry: { url: entry } }] });
  expect(await fixture.resolve(PAGE, { client: 'a' })).toMatchObject({ items: [{ entry: { url: entry } }] });
  expect(requested(fixture)).toBe(2);
  const other = fixture.resolve(PAGE, { client: 'b' });
  await expect.poll(() => requested(fixture)).toBe(3);
  fixture.workers[0]?.pending[2]?.answer(item('1'));
  expect(await other).toMatchObject({ items: [{ resource: { title: 'Title 1' } }] });
});

it('an entry that the deadline of its list has cut off is asked again', async () => {
  const fixture = createFixture();
  const first = stallEntry(fixture, 60);
  expect(await first).not.toHaveProperty('items.0.resource');
  const second = fixture.resolve(PAGE, { client: 'a' });
  await expect.poll(() => requested(fixture)).toBe(3);
  fixture.workers[0]?.pending[2]?.answer(item('1'));
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
