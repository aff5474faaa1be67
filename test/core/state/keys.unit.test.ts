import { describe, expect, it } from 'vitest';
import { archiveKey, keyOf, pageKey, parseKey, renditionId, resourceId } from '../../../core/state/keys.ts';

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

  it('differ for the pages of a list, also where numbers of entries are those of the page', () => {
    const offsets = [undefined, 2, 3, 22, 23];
    const selections = [undefined, [[2, 2]], [[2, 3]], [[22, 3]]] as const;
    const keys = offsets.flatMap((offset) => [
      pageKey(origin.url, offset),
      resourceId({ ...origin, ...(offset && { offset }) }),
      ...selections.map((selected) => archiveKey(origin.url, { selected, offset })),
    ]);
    expect(new Set(keys).size).toBe(keys.length);
    expect(pageKey(origin.url, 0)).toBe(origin.url);
    expect(resourceId({ ...origin, offset: 2 })).not.toBe(resourceId({ ...origin, list: '2' }));
    // As an entry that its list names is stored.
    expect(pageKey(origin.url, 2)).not.toBe(JSON.stringify([origin.url, '2']));
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
