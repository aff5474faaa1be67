import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCache } from '../src/cache.ts';

const weightOf = (value: number) => value;
const useFakeTimers = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
};

describe('createCache', () => {
  it('evicts the least recently used entry beyond its size, and none for a replaced one', () => {
    const cache = createCache<string, number>({ maxEntries: 2 });
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect([...cache.keys()]).toEqual(['a', 'c']);
    expect(cache.get('b')).toBeUndefined();
    expect(cache.set('a', 4)).toBe(4);
    expect([...cache.keys()]).toEqual(['c', 'a']);
    expect(cache.get('a')).toBe(4);
    cache.delete('a');
    expect(cache.get('a')).toBeUndefined();
  });

  it('evicts the least recently used entries beyond the sum of weights, and keeps nothing heavier', () => {
    const cache = createCache<string, number>({ maxEntries: 10, maxWeight: 10, weightOf });
    cache.set('a', 4);
    cache.set('b', 4);
    cache.set('a', 6);
    expect([...cache.keys()]).toEqual(['b', 'a']);
    cache.set('c', 3);
    expect([...cache.keys()]).toEqual(['a', 'c']);
    cache.set('d', 11);
    expect([...cache.keys()]).toEqual([]);
  });

  it.each([
    ['older than maxAgeMs, even when it was read meanwhile', 1e9],
    ['past its own expiry', 100],
  ])('does not return an entry that is %s', (_what, expiresAt) => {
    let now = 0;
    const cache = createCache<string, number>({
      maxEntries: 2,
      maxAgeMs: expiresAt === 100 ? 1e9 : 100,
      now: () => now,
    });
    cache.set('a', 1, expiresAt);
    now = 99;
    expect(cache.get('a')).toBe(1);
    now = 100;
    expect(cache.get('a')).toBeUndefined();
    expect([...cache.keys()]).toEqual([]);
  });

  it('evicts entries beyond the weight for idle ones once they are idle, without a call', () => {
    useFakeTimers();
    const idle = { afterMs: 100, maxWeight: 5 };
    const cache = createCache<string, number>({ maxEntries: 10, maxAgeMs: 1e6, maxWeight: 20, weightOf, idle });
    cache.set('a', 4);
    cache.set('b', 4);
    cache.set('c', 1);
    vi.advanceTimersByTime(60);
    cache.get('a');
    vi.advanceTimersByTime(50);
    expect([...cache.keys()]).toEqual(['c', 'a']);
    cache.set('d', 10);
    vi.advanceTimersByTime(99);
    // The first two are idle; what is left is more than idle entries may weigh, and still in use.
    expect([...cache.keys()]).toEqual(['d']);
    vi.advanceTimersByTime(1);
    expect([...cache.keys()]).toEqual([]);
  });

  it('tells of each value that it has no more', () => {
    const removed: number[] = [];
    const cache = createCache<string, number>({ maxEntries: 2, onRemove: (value) => removed.push(value) });
    for (const [index, key] of ['a', 'a', 'b', 'c'].entries()) cache.set(key, index);
    cache.delete('b');
    cache.delete('b');
    expect(removed).toEqual([0, 1, 2]);
  });

  it('releases stale entries without a call', () => {
    useFakeTimers();
    const cache = createCache<string, number>({ maxEntries: 10, maxAgeMs: 100 });
    cache.set('a', 1);
    vi.advanceTimersByTime(50);
    cache.set('b', 1);
    vi.advanceTimersByTime(50);
    expect([...cache.keys()]).toEqual(['b']);
    vi.advanceTimersByTime(100);
    expect([...cache.keys()]).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
