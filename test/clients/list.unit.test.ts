import { expect, it } from 'vitest';
import { type ResourceInformation, resolveList, type StreamReference } from '../../clients/reelay-client/src/index.ts';

/** Answers one number of resolved entries after the other, out of ten; the last one repeats. */
function instanceWith(...resolved: readonly number[]) {
  const waits: (number | undefined)[] = [];
  const resolve = async (_link: string, options: { maxEntryWaitSeconds?: number | undefined } = {}) => {
    const count = resolved[Math.min(waits.push(options.maxEntryWaitSeconds), resolved.length) - 1] ?? 0;
    const mediaItems = Array.from({ length: 10 }, (_, index) => ({
      requestedUrl: `https://example.com/${index}`,
      coverUrl: null,
      title: null,
      author: null,
      ...(index < count && { audio: {} as StreamReference }),
    }));
    const list: ResourceInformation = { type: 'PlayList', title: null, author: null, coverUrl: null, mediaItems };
    return list;
  };
  return { waits, resolve };
}

it('a list is requested until every entry is resolved, with longer waits each time', async () => {
  const instance = instanceWith(1, 3, 3, 7, 10);
  const seen: number[] = [];
  const list = await resolveList(instance, 'https://example.com/list', {
    onUpdate: ({ pendingEntries }) => seen.push(pendingEntries),
  });
  expect(list.pendingEntries).toBe(0);
  expect(seen).toEqual([9, 7, 7, 3, 0]);
  expect(instance.waits).toEqual([3, 6, 12, undefined, undefined]);
});

it('a list is no longer requested when a whole deadline resolves no further entry', async () => {
  const instance = instanceWith(8, 8, 8, 9, 9);
  expect((await resolveList(instance, 'https://example.com/list')).pendingEntries).toBe(1);
  expect(instance.waits).toEqual([3, 6, 12, undefined, undefined]);
});

it('one item is requested once', async () => {
  const instance = instanceWith(10);
  await resolveList(instance, 'https://example.com/video');
  expect(instance.waits).toEqual([3]);
});
