import { describe, expect, it } from 'vitest';
import { keyOf, parseKey, renditionId, resourceId } from '../../../core/state/keys.ts';

const origin = { url: 'https://media.example/watch?v=1', extractor: 'Generic', entryId: '1' };

describe('keys', () => {
  it('are the same for the same rendition every time, URL-safe and at most 64 characters', () => {
    const key = keyOf(
      resourceId(origin),
      renditionId({ side: 'video', urlType: 'Combined', formatIds: ['137', '140'] }),
    );
    expect(key).toMatch(/^[\w-]{33}$/);
    expect(key).toBe(
      keyOf(resourceId({ ...origin }), renditionId({ side: 'video', urlType: 'Combined', formatIds: ['137', '140'] })),
    );
  });

  it('differ for the items of one page', () =>
    expect(resourceId(origin)).not.toBe(resourceId({ ...origin, entryId: '2' })));

  it('differ for items that a list names itself, and not by the URL fragment', () => {
    expect(resourceId(origin)).not.toBe(resourceId({ ...origin, list: 'https://media.example/feed' }));
    expect(resourceId(origin)).toBe(resourceId({ ...origin, url: `${origin.url}#/route` }));
  });

  it('are parsed into their two digests', () =>
    expect(parseKey(keyOf('r'.repeat(22), 'q'.repeat(11)))).toEqual({
      resourceId: 'r'.repeat(22),
      renditionId: 'q'.repeat(11),
    }));

  it.each(['', 'x', 'a'.repeat(32), 'a'.repeat(34), 'a'.repeat(5000), `${'a'.repeat(32)}%`, `${'a'.repeat(32)}\n`])(
    'rejects %j',
    (key) => expect(parseKey(key)).toBeUndefined(),
  );
});
