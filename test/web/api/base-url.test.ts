import { describe, expect, it } from 'vitest';
import { forgetBaseUrl, readBaseUrl } from '../../../web/src/api/base-url.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

const origin = 'https://here.example';
const own = { base: origin, isOther: false, isRefused: false };
const other = (base: string) => ({ base, isOther: true, isRefused: false });
const refused = { ...own, isRefused: true };

describe('readBaseUrl', () => {
  it.each([
    ['', own],
    ['?url=x', own],
    ['?api=https://other.example', other('https://other.example')],
    ['?api=https%3A%2F%2Fother.example%2F', other('https://other.example')],
    ['?api=https://Other.example:443/sub/path//', other('https://other.example/sub/path')],
    ['?api=https://other.example/?a=1%23b', other('https://other.example')],
    ['?api=http://localhost:8080', other('http://localhost:8080')],
    ['?api=http://127.0.0.1:8080/', other('http://127.0.0.1:8080')],
    [`?api=${origin}`, own],
    ['?api=', own],
    ['?api=http://other.example', refused],
    ['?api=other.example', refused],
    ['?api=javascript:alert(1)', refused],
    ['?api=https://user:pass@other.example', refused],
    ['?api=http://localhost.evil.example', refused],
    ['?api=https://', refused],
    ['?api=%00', refused],
  ])('%s', (search, answer) => {
    expect(readBaseUrl({ origin, search, storage: createMemoryStore() })).toEqual(answer);
    expect(readBaseUrl({ origin, search, storage: createMemoryStore({}, true) })).toEqual(answer);
    expect(readBaseUrl({ origin, search })).toEqual(answer);
  });

  it('remembers the instance until it is forgotten', () => {
    const storage = createMemoryStore();
    const read = (search: string) => readBaseUrl({ origin, search, storage }).base;
    read('?api=https://other.example');
    expect(read('')).toBe('https://other.example');
    expect(read('?api=nonsense')).toBe('https://other.example');
    expect(read('?api=')).toBe(origin);
    expect(read('')).toBe(origin);
    read('?api=https://other.example');
    expect(read(`?api=${origin}`)).toBe(origin);
    expect(read('')).toBe(origin);
    read('?api=https://other.example');
    forgetBaseUrl(storage);
    expect(read('')).toBe(origin);
  });

  it('ignores an invalid stored value', () => {
    const storage = createMemoryStore({ 'reelay.api': 'http://evil.example' });
    expect(readBaseUrl({ origin, search: '', storage })).toEqual(own);
  });
});
