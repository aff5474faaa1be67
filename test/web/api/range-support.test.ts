import { describe, expect, it } from 'vitest';
import { createRangeSupport } from '../../../web/src/ui/ranges/range-support.ts';
import { serve } from '../fakes/serve.ts';

/** A stream that responds with these headers in turn and repeats the last. */
async function stream(...heads: (readonly [status: number, headers: Record<string, string>])[]) {
  const methods: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    const [status, headers] = heads[Math.min(methods.length, heads.length - 1)] ?? [404, {}];
    methods.push(request.method);
    response.writeHead(status, headers).end();
  });
  return { url, methods };
}

describe('createRangeSupport', () => {
  it.each([
    ['a file', { 'accept-ranges': 'bytes' }, true],
    ['what is put together while it is sent', { 'accept-ranges': 'none' }, false],
    ['what does not say', {}, undefined],
  ])('returns what HEAD reports: %s', async (_, headers, hasRanges) => {
    const { url, methods } = await stream([200, headers]);
    const book = createRangeSupport();
    await book.check(url);
    expect(book.known.get().get(url)).toBe(hasRanges);
    expect(methods).toEqual(['HEAD']);
  });

  it('sends one HEAD request per stream', async () => {
    const { url, methods } = await stream([200, { 'accept-ranges': 'bytes' }]);
    const book = createRangeSupport();
    await Promise.all([book.check(url), book.check(url)]);
    await book.check(url);
    expect(methods).toHaveLength(1);
  });

  it('asks again for a stream without ranges, which may have them later', async () => {
    const { url, methods } = await stream([200, { 'accept-ranges': 'none' }], [200, { 'accept-ranges': 'bytes' }]);
    const book = createRangeSupport(undefined, [1]);
    const changes: (boolean | undefined)[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    book.known.subscribe(() => {
      changes.push(book.known.get().get(url));
      if (changes.length === 2) resolve();
    });
    await book.check(url);
    await promise;
    expect([changes, methods.length]).toEqual([[false, true], 2]);
  });

  it('retries after a failure', async () => {
    const { url } = await stream([503, { 'accept-ranges': 'none' }], [200, { 'accept-ranges': 'bytes' }]);
    const book = createRangeSupport();
    await book.check(url);
    expect(book.known.get().has(url)).toBe(false);
    await book.check(url);
    expect(book.known.get().get(url)).toBe(true);
  });

  it('stays unknown when the request times out', async () => {
    const book = createRangeSupport(() => Promise.reject(new TypeError('No connection')));
    await book.check('http://127.0.0.1/');
    expect(book.known.get().size).toBe(0);
  });

  it('evicts the oldest entries', async () => {
    const book = createRangeSupport(async () => new Response(null, { headers: { 'accept-ranges': 'bytes' } }));
    for (let count = 0; count < 300; count++) await book.check(`http://127.0.0.1/${count}`);
    expect([...book.known.get().keys()].at(-1)).toBe('http://127.0.0.1/299');
    expect(book.known.get().size).toBeLessThanOrEqual(200);
  });
});
