import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLruCache } from '../../../core/concurrency/cache.ts';

describe('createLruCache', () => {
  it('evicts the least recently used entry beyond its size', () => {
    const cache = createLruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.get('a');
    cache.set('c', 3);
    expect([...cache.keys()]).toEqual(['a', 'c']);
    expect(cache.get('b')).toBeUndefined();
  });

  it('replaces an entry without evicting another', () => {
    const cache = createLruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    expect([...cache.keys()]).toEqual(['b', 'a']);
    expect(cache.get('a')).toBe(3);
  });

  it('returns nothing for a deleted entry', () => {
    const cache = createLruCache<string, number>(2);
    cache.set('a', 1);
    cache.delete('a');
    expect(cache.get('a')).toBeUndefined();
  });

  it('evicts the least recently used entries beyond the sum of weights, and keeps nothing heavier', () => {
    const cache = createLruCache<string, number>(10, { maxWeight: 10, weightOf: (value) => value });
    cache.set('a', 4);
    cache.set('b', 4);
    cache.set('a', 6);
    expect([...cache.keys()]).toEqual(['b', 'a']);
    cache.set('c', 3);
    expect([...cache.keys()]).toEqual(['a', 'c']);
    cache.set('d', 11);
    expect([...cache.keys()]).toEqual([]);
  });

  it('evicts entries beyond the weight for idle ones once they are idle, without a call', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const idle = { afterMs: 100, maxWeight: 5 };
    const cache = createLruCache<string, number>(10, { maxWeight: 20, weightOf: (value) => value, idle });
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
    cache.set('e', 5);
    expect(vi.getTimerCount()).toBe(0);
  });
});
