import { describe, expect, it } from 'vitest';
import { createRecent } from '../../../core/concurrency/ttl-cache.ts';

const record = (id: string, expiresAt = 1000) => ({ id, expiresAt });

describe('what was read a moment ago', () => {
  it('is known until it is too old, however often it is asked for', () => {
    let now = 0;
    const recent = createRecent({ capacity: 2, maxAge: 100, now: () => now });
    recent.keep(record('a'));
    now = 99;
    expect(recent.get('a')).toEqual(record('a'));
    now = 100;
    expect(recent.get('a')).toBeUndefined();
  });

  it('is gone when it has expired', () => {
    const recent = createRecent({ capacity: 2, maxAge: 1e9, now: () => 1_000_000 });
    recent.keep(record('a', 1000));
    expect(recent.get('a')).toBeUndefined();
  });

  it('gives way to newer records, what was not asked for longest first', () => {
    const recent = createRecent({ capacity: 2, maxAge: 100, now: () => 0 });
    recent.keep(record('a'));
    recent.keep(record('b'));
    recent.get('a');
    recent.keep(record('c'));
    expect(['a', 'b', 'c'].map((id) => recent.get(id)?.id)).toEqual(['a', undefined, 'c']);
  });
});
