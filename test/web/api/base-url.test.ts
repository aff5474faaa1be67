import { describe, expect, it } from 'vitest';
import { acceptBaseUrl, forgetBaseUrl, readBaseUrl } from '../../../web/src/api/base-url.ts';
import { createMemoryStore } from '../fakes/memory-store.ts';

const origin = 'https://here.example';
const own = { base: origin, isOther: false, isRefused: false, proposed: undefined };
const proposed = (base: string) => ({ ...own, proposed: base });
const refused = { ...own, isRefused: true };

describe('readBaseUrl', () => {
  it.each([
    ['', own],
    ['?url=x', own],
    ['?api=https://other.example', proposed('https://other.example')],
    ['?api=https%3A%2F%2Fother.example%2F', proposed('https://other.example')],
    ['?api=https://Other.example:443/sub/path//', proposed('https://other.example/sub/path')],
    ['?api=https://other.example/?a=1%23b', proposed('https://other.example')],
    ['?api=http://localhost:8080', proposed('http://localhost:8080')],
    ['?api=http://127.0.0.1:8080/', proposed('http://127.0.0.1:8080')],
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

  it('uses an instance only once it is accepted, and no longer than that', () => {
    const [storage, tabStorage] = [createMemoryStore(), createMemoryStore()];
    const read = (search: string) => readBaseUrl({ origin, search, storage, tabStorage });
    expect(read('?api=https://other.example').base).toBe(origin);
    expect(read('').base).toBe(origin);
    acceptBaseUrl('https://other.example', tabStorage);
    expect(read('')).toMatchObject({ base: 'https://other.example', isOther: true });
    expect(read('?api=https://other.example').proposed).toBeUndefined();
    expect(read('?api=https://third.example').proposed).toBe('https://third.example');
    expect(readBaseUrl({ origin, search: '', storage, tabStorage: createMemoryStore() }).base).toBe(origin);
  });

  it('remembers the accepted instance until it is forgotten', () => {
    const storage = createMemoryStore();
    const read = (search: string) => readBaseUrl({ origin, search, storage }).base;
    acceptBaseUrl('https://other.example', storage);
    expect(read('')).toBe('https://other.example');
    expect(read('?api=nonsense')).toBe('https://other.example');
    expect(read('?api=')).toBe(origin);
    expect(read('')).toBe(origin);
    acceptBaseUrl('https://other.example', storage);
    expect(read(`?api=${origin}`)).toBe(origin);
    expect(read('')).toBe(origin);
    acceptBaseUrl('https://other.example', storage);
    forgetBaseUrl(storage);
    expect(read('')).toBe(origin);
  });

  it('ignores an invalid stored value', () => {
    const storage = createMemoryStore({ 'reelay.api': 'http://evil.example' });
    expect(readBaseUrl({ origin, search: '', storage })).toEqual(own);
  });
});
