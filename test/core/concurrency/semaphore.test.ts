import { expect, it } from 'vitest';
import { createSemaphore } from '../../../core/concurrency/semaphore.ts';

it('gives turns in the order they were asked for, so many at once', async () => {
  const turns = createSemaphore({ permits: 2, maxWaitMs: 10_000 });
  const order: number[] = [];
  const ends: (() => void)[] = [];
  const asked = [0, 1, 2, 3].map(async (number) => {
    const end = await turns.acquire();
    order.push(number);
    ends.push(end);
  });
  await Promise.all(asked.slice(0, 2));
  expect(order).toEqual([0, 1]);
  ends[1]?.();
  await asked[2];
  expect(order).toEqual([0, 1, 2]);
  ends[0]?.();
  await asked[3];
  expect(order).toEqual([0, 1, 2, 3]);
});

it('fails who has waited for too long, and goes on with the others', async () => {
  const turns = createSemaphore({ permits: 1, maxWaitMs: 5 });
  const end = await turns.acquire();
  await expect(turns.acquire()).rejects.toThrow('Others kept it busy for 5 ms');
  end();
  (await turns.acquire())();
  (await turns.acquire())();
});
