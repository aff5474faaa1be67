import { describe, expect, it } from 'vitest';
import { CapacityExceeded, ClientLimitExceeded } from '../../../core/errors/index.ts';
import { clientOf } from '../../../core/http/client.ts';
import { createResolveLimits } from '../../../core/resolve/client-limits.ts';
import { createFixture, item, PAGE } from './fixture.ts';

const settled = () => new Promise(setImmediate);
const bounds = (signal = new AbortController().signal) => ({ deadline: Date.now() + 5_000, signal });
const create = (options = {}) =>
  createResolveLimits({ maxRunningPerClient: 1, maxWaitingPerClient: 1, maxWaiting: 2, ...options });

describe('createResolveLimits', () => {
  it('refuses a client at its limit and grants another one at once', async () => {
    const limits = create();
    const release = limits.tryAcquire('a');
    expect(limits.tryAcquire('a')).toBeUndefined();
    const waiting = limits.acquire('a', bounds());
    await expect(limits.acquire('a', bounds())).rejects.toBeInstanceOf(ClientLimitExceeded);
    expect(limits.tryAcquire('b')).toBeDefined();
    release?.();
    release?.();
    (await waiting)();
    expect(limits.tryAcquire('a')).toBeDefined();
  });

  it('limits the links of all clients that wait', async () => {
    const limits = create();
    for (const client of ['a', 'b', 'c']) limits.tryAcquire(client);
    const leaving = new AbortController();
    const left = limits.acquire('a', bounds(leaving.signal));
    void limits.acquire('b', bounds()).catch(() => undefined);
    await expect(limits.acquire('c', bounds())).rejects.toBeInstanceOf(CapacityExceeded);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    void limits.acquire('c', bounds()).catch(() => undefined);
    await expect(limits.acquire('a', bounds())).rejects.toBeInstanceOf(CapacityExceeded);
  });

  it('keeps the slot of an aborted link for a while', async () => {
    const limits = create({ abortedSlotMs: 50 });
    limits.tryAcquire('a')?.(true);
    expect(limits.tryAcquire('a')).toBeUndefined();
    (await limits.acquire('a', bounds()))();
    expect(limits.tryAcquire('a')).toBeDefined();
  });

  it('fails at the deadline', async () => {
    const limits = create();
    limits.tryAcquire('a');
    const late = { deadline: Date.now() + 20, signal: new AbortController().signal };
    await expect(limits.acquire('a', late)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('resolve', () => {
  it('frees everything when a client that sent 262 links disconnects', async () => {
    const { resolve, untilPending, workers } = createFixture();
    const leaving = new AbortController();
    const links = Array.from({ length: 262 }, (_, page) =>
      resolve(`https://slow.example/${page}`, { client: 'a', signal: leaving.signal }).catch((error: Error) => error),
    );
    await untilPending(4);
    const other = resolve(PAGE, { client: 'b' });
    (await untilPending(5))[4]?.answer(item('1'));
    await other;
    leaving.abort(new Error('left'));
    const failures = await Promise.all(links);
    expect(failures.filter((error) => error instanceof ClientLimitExceeded)).toHaveLength(262 - 72);
    expect(failures.filter((error) => error instanceof Error && error.message === 'left')).toHaveLength(72);
    expect(workers[0]?.pending.filter(({ signal }) => !signal?.aborted)).toHaveLength(1);
    const next = resolve('https://media.example/2', { client: 'a' });
    await expect.poll(() => workers[0]?.pending.at(-1)?.request.url).toBe('https://media.example/2');
    workers[0]?.pending.at(-1)?.answer(item('2'));
    await next;
  });

  it('answers a stored link while the links of its client wait', async () => {
    const { resolve, answerNext } = createFixture(undefined, { maxResolvesPerClient: 1 });
    const first = resolve(PAGE, { client: 'a' });
    await answerNext(item('1'));
    await first;
    const leaving = new AbortController();
    const slow = resolve('https://slow.example/', { client: 'a', signal: leaving.signal });
    await settled();
    expect(await resolve(PAGE, { client: 'a' })).toMatchObject({ type: 'Media' });
    leaving.abort(new Error('left'));
    await expect(slow).rejects.toThrow('left');
  });

  it('gives a link to another client although its first client waits', async () => {
    const { resolve, untilPending } = createFixture(undefined, { maxResolvesPerClient: 1 });
    const leaving = new AbortController();
    const links = ['https://slow.example/', PAGE].map((url) =>
      resolve(url, { client: 'a', signal: leaving.signal }).catch(() => undefined),
    );
    await untilPending();
    const other = resolve(PAGE, { client: 'b' });
    (await untilPending(2))[1]?.answer(item('1'));
    expect(await other).toMatchObject({ type: 'Media' });
    leaving.abort(new Error('left'));
    await Promise.all(links);
  });

  it('gives the 256 clients of an IPv6 network four times what one client may', async () => {
    const { resolve, untilPending } = createFixture(undefined, { maxResolvesPerClient: 1 });
    const leaving = new AbortController();
    const links = Array.from({ length: 256 }, (_, index) => {
      const client = clientOf(`2001:db8:1:${index.toString(16)}00::1`);
      const url = `https://slow.example/${index}`;
      return resolve(url, { client, signal: leaving.signal }).catch((error: Error) => error);
    });
    await untilPending(4);
    const other = resolve(PAGE, { client: clientOf('2001:db8:2::1') });
    (await untilPending(5))[4]?.answer(item('1'));
    await other;
    leaving.abort(new Error('left'));
    const failures = await Promise.all(links);
    // Three run, and of the others one runs and eight wait.
    expect(failures.filter((error) => error instanceof ClientLimitExceeded)).toHaveLength(256 - 12);
  });
});
