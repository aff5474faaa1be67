import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../src/limits.ts';

const SECOND = 1000;

function createFixture(maxDebt = 0) {
  let now = 0;
  const limit = createRateLimit({ perSecond: 10, burst: 5, maxDebt, now: () => now });
  const take = (count: number, client = 'a') => Array.from({ length: count }, () => limit.take(client));
  return {
    ...limit,
    pass: (ms: number) => {
      now += ms;
    },
    takeMany: take,
  };
}

describe('createRateLimit', () => {
  it('grants a burst, then as many per second as it says', () => {
    const { takeMany, pass } = createFixture();
    expect(takeMany(6)).toEqual([0, 0, 0, 0, 0, 100]);
    pass(100);
    expect(takeMany(2)).toEqual([0, 100]);
    pass(60 * SECOND);
    expect(takeMany(6)).toEqual([0, 0, 0, 0, 0, 100]);
  });

  it('counts each client separately', () => {
    const { takeMany, take } = createFixture();
    takeMany(100);
    expect(take('b')).toBe(0);
  });

  it('grants a client that never waits as much as one that does, where nothing is owed', () => {
    const { takeMany, take, pass } = createFixture();
    takeMany(5);
    const granted = Array.from({ length: 1000 }, () => {
      pass(10);
      return take('a');
    }).filter((waitMs) => waitMs === 0);
    expect(granted).toHaveLength(100);
  });

  it('lets a client that does not wait owe tokens, up to a limit', () => {
    const { takeMany, waitMs, pass } = createFixture(20);
    expect(takeMany(7)).toEqual([0, 0, 0, 0, 0, 100, 200]);
    takeMany(1000);
    expect(waitMs('a')).toBe(21 * 100);
    pass(21 * 100);
    expect(takeMany(2)).toEqual([0, 100]);
  });

  it('tells how long a client has to wait without taking anything', () => {
    const { takeMany, waitMs } = createFixture();
    expect([waitMs('a'), waitMs('a')]).toEqual([0, 0]);
    takeMany(5);
    expect([waitMs('a'), waitMs('a')]).toEqual([100, 100]);
  });
});
