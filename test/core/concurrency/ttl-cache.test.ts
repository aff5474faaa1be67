import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTtlCache } from '../../../core/concurrency/cache.ts';

const record = (id: string, expiresAt = 1000) => ({ id, expiresAt });

describe('createTtlCache', () => {
  it('returns a record until it is older than maxAgeMs, even when it was read meanwhile', () => {
    let now = 0;
    const cache = createTtlCache({ maxEntries: 2, maxAgeMs: 100, now: () => now });
    cache.set(record('a'));
    now = 99;
    expect(cache.get('a')).toEqual(record('a'));
    now = 100;
    expect(cache.get('a')).toBeUndefined();
  });

  it('does not return a record past its own expiresAt', () => {
    const cache = createTtlCache({ maxEntries: 2, maxAgeMs: 1e9, now: () => 1_000_000 });
    cache.set(record('a', 1000));
    expect(cache.get('a')).toBeUndefined();
  });

  it('evicts the least recently used record beyond maxEntries', () => {
    const cache = createTtlCache({ maxEntries: 2, maxAgeMs: 100, now: () => 0 });
    cache.set(record('a'));
    cache.set(record('b'));
    cache.get('a');
    cache.set(record('c'));
    expect(['a', 'b', 'c'].map((id) => cache.get(id)?.id)).toEqual(['a', undefined, 'c']);
  });

  it('evicts the least recently used records beyond maxWeight, and keeps none that is heavier', () => {
    const weightOf = ({ id }: { readonly id: string }) => id.length;
    const cache = createTtlCache({ maxEntries: 10, maxAgeMs: 100, maxWeight: 4, weightOf, now: () => 0 });
    for (const id of ['aa', 'bb', 'c', 'heavy']) cache.set(record(id));
    expect(['aa', 'bb', 'c', 'heavy'].map((id) => cache.get(id)?.id)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    for (const id of ['aa', 'bb', 'c']) cache.set(record(id));
    expect(['aa', 'bb', 'c'].map((id) => cache.get(id)?.id)).toEqual([undefined, 'bb', 'c']);
  });

  it('releases stale records without a call', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const released: string[] = [];
    const weightOf = ({ id }: { readonly id: string }) => {
      released.push(id);
      return 1;
    };
    const cache = createTtlCache({ maxEntries: 10, maxAgeMs: 100, maxWeight: 10, weightOf });
    cache.set(record('a', 1e12));
    released.length = 0;
    vi.advanceTimersByTime(100);
    expect(released).toEqual(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });
});
