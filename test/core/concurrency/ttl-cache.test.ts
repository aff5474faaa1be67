import { describe, expect, it } from 'vitest';
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
});
