import { describe, expect, it } from 'vitest';
import { createSemaphore } from '../../../core/concurrency/semaphore.ts';

describe('createSemaphore', () => {
  it('grants its permits in the order of the callers', async () => {
    const semaphore = createSemaphore({ permits: 2, maxWaitMs: 10_000 });
    const order: number[] = [];
    const releases: (() => void)[] = [];
    const acquired = [0, 1, 2, 3].map(async (number) => {
      const release = await semaphore.acquire();
      order.push(number);
      releases.push(release);
    });
    await Promise.all(acquired.slice(0, 2));
    expect(order).toEqual([0, 1]);
    releases[1]?.();
    await acquired[2];
    expect(order).toEqual([0, 1, 2]);
    releases[0]?.();
    await acquired[3];
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('rejects a waiter after maxWaitMs and still serves the others', async () => {
    const semaphore = createSemaphore({ permits: 1, maxWaitMs: 5 });
    const release = await semaphore.acquire();
    await expect(semaphore.acquire()).rejects.toThrow('No permit within 5 ms');
    release();
    (await semaphore.acquire())();
    (await semaphore.acquire())();
  });

  it('rejects a waiter whose signal is aborted, and passes its place to the next one', async () => {
    const semaphore = createSemaphore({ permits: 1 });
    const release = await semaphore.acquire();
    const leaving = new AbortController();
    const left = semaphore.acquire(leaving.signal);
    const next = semaphore.acquire();
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(semaphore.acquire(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(semaphore.waiting()).toBe(1);
    release();
    (await next)();
  });

  it('grants no permit twice when one is released twice', async () => {
    const semaphore = createSemaphore({ permits: 1 });
    const release = await semaphore.acquire();
    release();
    release();
    expect(semaphore.tryAcquire()).toBeDefined();
    expect(semaphore.tryAcquire()).toBeUndefined();
  });
});
