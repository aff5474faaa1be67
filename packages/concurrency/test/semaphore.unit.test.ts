import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSemaphore, type Permit } from '../src/limits.ts';

const REVOKE_AFTER_MS = 20;
const never = new AbortController().signal;

/** Callers are named by client and number: `a1`. */
function createFixture(permits: number, maxPerClient?: number) {
  const semaphore = createSemaphore({ permits, maxPerClient, revokeAfterMs: REVOKE_AFTER_MS });
  const granted: string[] = [];
  const acquire = async (name: string, signal = never): Promise<Permit> => {
    const permit = await semaphore.acquire(name.slice(0, 1), signal);
    granted.push(name);
    return permit;
  };
  return { granted, acquire };
}
const settled = () => new Promise(setImmediate);
const revocationDelay = () => vi.advanceTimersByTimeAsync(5 * REVOKE_AFTER_MS);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('createSemaphore', () => {
  it('grants one client all permits while no other client waits', async () => {
    const { granted, acquire } = createFixture(4);
    const held = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => acquire(name)));
    void acquire('a5');
    await revocationDelay();
    expect(granted).toEqual(['a1', 'a2', 'a3', 'a4']);
    expect(held.some(({ revoked }) => revoked.aborted)).toBe(false);
    expect(held.map(({ rank }) => rank)).toEqual([0, 1, 2, 3]);
    held[2]?.release();
    await settled();
    expect(granted.at(-1)).toBe('a5');
  });

  it('grants one of a larger weight in its turn, at most as large as a client may hold', async () => {
    const semaphore = createSemaphore({ permits: 10, maxPerClient: 8 });
    const first = semaphore.tryAcquire('a', 5);
    const large = semaphore.acquire('b', never, 100);
    expect([semaphore.held(), semaphore.tryAcquire('c', 1)], 'nothing overtakes it').toEqual([5, undefined]);
    const leaving = new AbortController();
    const left = semaphore.acquire('d', leaving.signal, 8).catch(() => undefined);
    const small = semaphore.acquire('c', never, 2);
    first?.release();
    await large;
    expect([semaphore.held('b'), semaphore.waiting()]).toEqual([8, 2]);
    leaving.abort();
    await Promise.all([left, small]);
    expect([semaphore.held('c'), semaphore.held()]).toEqual([2, 10]);
  });

  it('grants permits to clients round-robin', async () => {
    const { granted, acquire } = createFixture(1);
    const first = await acquire('a1');
    const rest = ['a2', 'a3', 'b1', 'c1', 'b2'].map((name) => acquire(name).then((permit) => permit.release()));
    first.release();
    await Promise.all(rest);
    expect(granted).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('revokes the newest permits beyond half when another client has waited', async () => {
    const { granted, acquire } = createFixture(4);
    const greedy = await Promise.all(['a1', 'a2', 'a3', 'a4'].map((name) => acquire(name)));
    for (const permit of greedy) permit.revoked.addEventListener('abort', permit.release);
    const others = ['b1', 'b2', 'b3'].map((name) => acquire(name));
    await settled();
    expect(
      greedy.some(({ revoked }) => revoked.aborted),
      'not before the others have waited',
    ).toBe(false);
    await revocationDelay();
    expect(greedy.map(({ revoked }) => revoked.aborted)).toEqual([false, false, true, true]);
    expect(granted.slice(4)).toEqual(['b1', 'b2']);
    (await others[0])?.release();
    await settled();
    expect(granted.at(-1)).toBe('b3');
  });

  it('grants a client no more than half while another waits, and leaves no permit unused', async () => {
    const { granted, acquire } = createFixture(3);
    const [one, two] = [await acquire('a1'), await acquire('b1')];
    await acquire('c1');
    void acquire('a2');
    void acquire('b2');
    two.release();
    await settled();
    expect(granted.at(-1)).toBe('b2');
    one.release();
    await settled();
    expect(granted.at(-1)).toBe('a2');
  });

  it('keeps permits beyond maxPerClient for the next client', async () => {
    const { granted, acquire } = createFixture(3, 2);
    const held = await Promise.all(['a1', 'a2'].map((name) => acquire(name)));
    void acquire('a3');
    await settled();
    expect(granted).toEqual(['a1', 'a2']);
    expect((await acquire('b1')).rank).toBe(0);
    expect(granted.at(-1)).toBe('b1');
    held[0]?.release();
    await settled();
    expect(granted.at(-1)).toBe('a3');
  });

  it('does not revoke the only permit', async () => {
    const { acquire } = createFixture(1);
    const only = await acquire('a1');
    void acquire('b1');
    await revocationDelay();
    expect(only.revoked.aborted).toBe(false);
  });

  it('skips a caller that was aborted', async () => {
    const { granted, acquire } = createFixture(1);
    const first = await acquire('a1');
    const leaving = new AbortController();
    const left = acquire('b1', leaving.signal);
    void acquire('c1');
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(acquire('d1', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    first.release();
    await settled();
    expect(granted).toEqual(['a1', 'c1']);
  });

  it('limits each client alone where there is no other limit', async () => {
    const semaphore = createSemaphore({ maxPerClient: 1 });
    const first = semaphore.tryAcquire('a');
    expect(semaphore.tryAcquire('a')).toBeUndefined();
    expect(semaphore.tryAcquire('b')).toBeDefined();
    const second = semaphore.acquire('a', never);
    expect([semaphore.held(), semaphore.held('a'), semaphore.waiting(), semaphore.waiting('a')]).toEqual([2, 1, 1, 1]);
    first?.release();
    await second;
    expect([semaphore.held('a'), semaphore.waiting('a')]).toEqual([1, 0]);
  });

  it('grants no permit twice when one is released twice', () => {
    const semaphore = createSemaphore({ permits: 1 });
    const permit = semaphore.tryAcquire('a');
    permit?.release();
    permit?.release();
    expect(semaphore.tryAcquire('a')).toBeDefined();
    expect(semaphore.tryAcquire('a')).toBeUndefined();
  });

  it('ranks a client by the permits that it had of late, too', async () => {
    const { acquire } = createFixture(4);
    const ranks: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      const permit = await acquire('a1');
      ranks.push(permit.rank);
      permit.release();
    }
    expect(ranks.slice(0, 20)).toEqual(Array(20).fill(0));
    expect(ranks.at(-1)).toBeGreaterThan(10);
    expect((await acquire('b1')).rank).toBe(0);
  });
});
