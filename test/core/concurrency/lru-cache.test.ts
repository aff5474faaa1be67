import { describe, expect, it } from 'vitest';
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
});
