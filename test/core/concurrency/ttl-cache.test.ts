import { describe, expect, it } from 'vitest';
import { createTtlCache } from '../../../core/concurrency/ttl-cache.ts';

const record = (id: string, expiresAt = 1000) => ({ id, expiresAt });

describe('what was read a moment ago', () => {
  it('is known until it is too old, however often it is asked for', () => {
    let now = 0;
    const recent = createTtlCache({ maxEntries: 2, maxAgeMs: 100, now: () => now });
    recent.set(record('a'));
    now = 99;
    expect(recent.get('a')).toEqual(record('a'));
    now = 100;
    expect(recent.get('a')).toBeUndefined();
  });

  it('is gone when it has expired', () => {
    const recent = createTtlCache({ maxEntries: 2, maxAgeMs: 1e9, now: () => 1_000_000 });
    recent.set(record('a', 1000));
    expect(recent.get('a')).toBeUndefined();
  });

  it('gives way to newer records, what was not asked for longest first', () => {
    const recent = createTtlCache({ maxEntries: 2, maxAgeMs: 100, now: () => 0 });
    recent.set(record('a'));
    recent.set(record('b'));
    recent.get('a');
    recent.set(record('c'));
    expect(['a', 'b', 'c'].map((id) => recent.get(id)?.id)).toEqual(['a', undefined, 'c']);
  });
});
