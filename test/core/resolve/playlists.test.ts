import { describe, expect, it, vi } from 'vitest';
import { ItemTooLarge } from '../../../core/state/create-state.ts';
import { linkId } from '../../../core/state/keys.ts';
import type { Link } from '../../../core/state/resource.ts';
import type { WorkerFailure } from '../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';
import { createFixture, type Info, item, list, listed, origin, PAGE } from './fixture.ts';
import { createMemoryState } from './memory-state.ts';

type Answers = Record<string, Info | WorkerFailure>;

describe('playlists', () => {
  const entryUrl = (name: string) => `https://media.example/${name}`;
  /** A list of entries, each of which is an item where nothing else is answered for it. */
  const listOf = (names: readonly string[], others: Answers = {}, more: Info = {}): Answers => ({
    [PAGE]: { ...list(...names.map((name) => listed(name))), ...more },
    ...Object.fromEntries(names.map((name) => [entryUrl(name), others[name] ?? item(name)])),
  });
  /** Entries with and without their items. */
  const found = (name: string) => [`Title ${name}`, name];
  const missing = (name: string) => [`Listed ${name}`, undefined];
  const GONE: WorkerFailure = { kind: 'http', httpStatus: 404 };

  it('are completed by the next request', async () => {
    const answers = listOf(['a', 'late'], { late: { kind: 'timeout' } });
    const { extracted, items } = createFixture(answers);
    expect(await items()).toEqual([found('a'), missing('late')]);
    answers[entryUrl('late')] = item('late');
    expect(await items()).toEqual(['a', 'late'].map(found));
    expect(await items()).toHaveLength(2);
    expect(extracted).toEqual([PAGE, entryUrl('a'), entryUrl('late'), entryUrl('late')]);
  });

  it('do not wait past the deadline for entries that are resolved elsewhere', async () => {
    const never = new Promise<never>(() => undefined);
    const { resolve } = createFixture(listOf(['a']), { resolveEntry: () => never });
    expect(await resolve(PAGE, { deadline: Date.now() + 2_000 })).toMatchObject({
      items: [{ entry: { title: 'Listed a' } }],
    });
  });

  it('do not wait for entries past entriesDeadline, and continue with them later', async () => {
    const { extracted, items, resolve } = createFixture(listOf(['a', 'b']));
    expect(await resolve(PAGE, { entriesDeadline: Date.now() })).toMatchObject({
      items: [{ entry: { title: 'Listed a' } }, { entry: { title: 'Listed b' } }],
    });
    expect(extracted).toEqual([PAGE]);
    expect(await items()).toEqual(['a', 'b'].map(found));
    expect(extracted).toEqual([PAGE, entryUrl('a'), entryUrl('b')]);
  });

  it('are resolved up to a number of the selected entries, which grows with each request', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { extracted, items, resolve } = createFixture(listOf(names, { b: { kind: 'timeout' } }));
    const ahead = { max: 2, selected: [[2, 4]] } as const;
    const titles = async () => {
      const resolved = await resolve(PAGE, { ahead });
      return (
        resolved.type === 'PlayList' && resolved.items.map(({ entry, resource }) => [entry.title, resource?.title])
      );
    };
    expect(await titles()).toEqual([
      ['Listed a', undefined],
      ['Listed b', undefined],
      ['Title c', 'Title c'],
      ['Listed d', undefined],
      ['Listed e', undefined],
    ]);
    expect(extracted).toEqual([PAGE, ...['b', 'c'].map(entryUrl)]);
    await titles();
    expect(extracted.slice(3)).toEqual(['b', 'd'].map(entryUrl));
    await items();
    expect(extracted.slice(5)).toEqual(['a', 'b', 'e'].map(entryUrl));
  });

  it('have what is known of their entries, also once that is old, for a caller that needs few of them', async () => {
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
    const { extracted, items, resolve } = createFixture(listOf(['a', 'b'], { b: { ...item('b'), is_live: true } }));
    await items();
    vi.setSystemTime(Date.now() + 4 * 3_600_000);
    expect(await resolve(PAGE, { ahead: { max: 9 } })).toMatchObject({
      items: [{ resource: { title: 'Title a' } }, { resource: { title: 'Title b' } }],
    });
    expect(extracted.slice(3)).toEqual([PAGE, entryUrl('b')]);
    await items();
    expect(extracted.slice(5)).toEqual([entryUrl('a')]);
    vi.useRealTimers();
  });

  it('are complete for a caller that needs all entries beside one that needs few', async () => {
    const { resolve } = createFixture(listOf(['a', 'b']));
    const [few, all] = await Promise.all([resolve(PAGE, { ahead: { max: 1 } }), resolve()]);
    expect(few).not.toHaveProperty('items[1].resource');
    expect(all).toMatchObject({ items: [{ resource: {} }, { resource: {} }] });
  });

  it('stop entries in progress at entriesDeadline', async () => {
    const { resolve, answerNext, workers } = createFixture();
    const resolving = resolve(PAGE, { entriesDeadline: Date.now() + 400 });
    await answerNext(list(listed('a')));
    expect(await resolving).toMatchObject({ items: [{ entry: { title: 'Listed a' } }] });
    await expect.poll(() => workers[0]?.pending.every(({ signal }) => signal?.aborted)).toBe(true);
  });

  it('wait for entries that came with their page, whatever the entriesDeadline', async () => {
    const { resolve } = createFixture({ [PAGE]: list(item('a'), item('b')) });
    expect(await resolve(PAGE, { entriesDeadline: Date.now() })).toMatchObject({
      items: [{ resource: { title: 'Title a' } }, { resource: { title: 'Title b' } }],
    });
  });

  it('are complete for a caller without entriesDeadline beside one with it', async () => {
    const { resolve } = createFixture(listOf(['a']));
    const [early, complete] = await Promise.all([resolve(PAGE, { entriesDeadline: Date.now() }), resolve()]);
    expect(early).not.toHaveProperty('items[0].resource');
    expect(complete).toMatchObject({ items: [{ resource: { title: 'Title a' } }] });
  });

  it('include the entries of a nested list, but not themselves', async () => {
    const { items } = createFixture({
      [PAGE]: list(listed('inner'), listed('a')),
      [entryUrl('inner')]: list(listed('b'), listed('watch'), listed('inner')),
      [entryUrl('a')]: item('a'),
      [entryUrl('b')]: item('b'),
    });
    expect(await items()).toEqual(['b', 'a'].map(found));
  });

  it('distinguish items that share one id when they are refreshed', async () => {
    const part = (mark: string) =>
      item('same', { formats: [{ format_id: 'a', url: origin.url(`/files/clip.mp4?${mark}`) }] });
    const { resolver, resolve } = createFixture({ [PAGE]: list(part('one'), part('two')) });
    const resolved = await resolve();
    const [first, second] = resolved.type === 'PlayList' ? resolved.items.map(({ resource }) => resource) : [];
    expect(first?.id).not.toBe(second?.id);
    expect(second && (await resolver.refresh(second)).tracks[0]?.url).toBe(origin.url('/files/clip.mp4?two'));
  });

  it('count the entries at their source, and name the places of those that are not available', async () => {
    const failing: Answers = { gone: GONE, late: { kind: 'timeout' }, private: { kind: 'login' } };
    const answers = listOf(['a', 'gone', 'late', 'private'], failing, { playlist_count: 9 });
    const { resolve, items } = createFixture(answers, { playlistLimit: 4 });
    const counts = {
      totalEntries: 9,
      nextOffset: 4,
      unavailable: [2, 4],
      unavailableEntries: [
        { number: 2, url: entryUrl('gone'), title: 'Listed gone', reason: 'not-found' },
        { number: 4, url: entryUrl('private'), title: 'Listed private', reason: 'login' },
      ],
    };
    expect(await resolve()).toMatchObject(counts);
    // From the table, once with an entry to resolve and once without.
    answers[entryUrl('late')] = item('late');
    expect(await resolve()).toMatchObject(counts);
    expect(await items()).toEqual(['a', 'late'].map(found));
    expect(await resolve()).toMatchObject(counts);
  });

  it('that end at the limit are not cut', async () => {
    const { resolve } = createFixture(listOf(['a', 'b'], {}, { playlist_count: 2 }), { playlistLimit: 2 });
    const resolved = await resolve();
    expect(resolved).toMatchObject({ totalEntries: 2, unavailable: [] });
    expect(resolved).not.toHaveProperty('nextOffset');
  });

  describe('in pages', () => {
    const names = ['a', 'b', 'gone', 'c', 'd'];
    const page = (offset: number, items: string[]) => ({
      offset,
      items: items.map((name) => ({ entry: { title: `Title ${name}` } })),
    });

    it('list what follows an offset, numbered by the whole list, and resolve nothing before it', async () => {
      const { resolve, extracted } = createFixture(listOf(names, { gone: GONE }, { playlist_count: 5 }), {
        playlistLimit: 2,
      });
      const second = {
        ...page(2, ['c']),
        unavailable: [3],
        unavailableEntries: [{ number: 3, reason: 'not-found' }],
        nextOffset: 4,
      };
      expect(await resolve(PAGE, { offset: 2 })).toMatchObject(second);
      expect(extracted).toEqual([PAGE, entryUrl('gone'), entryUrl('c')]);
      const last = await resolve(PAGE, { offset: 4 });
      expect(last).toMatchObject(page(4, ['d']));
      expect(last).not.toHaveProperty('nextOffset');
      const first = await resolve();
      expect(first).toMatchObject({
        items: [{ entry: { title: 'Title a' } }, { entry: { title: 'Title b' } }],
        nextOffset: 2,
      });
      expect(first).not.toHaveProperty('offset');
      const before = extracted.length;
      // From the table, each its own.
      expect(await resolve(PAGE, { offset: 2 })).toMatchObject(second);
      expect(await resolve(PAGE, { offset: 4 })).toEqual(last);
      expect(await resolve()).toEqual(first);
      expect(extracted.length).toBe(before);
    });

    it('are resolved at once without a share of each other', async () => {
      const { resolve } = createFixture(listOf(names), { playlistLimit: 2 });
      const both = await Promise.all([resolve(), resolve(PAGE, { offset: 2 })]);
      expect(both).toMatchObject([{ items: [{}, {}] }, { offset: 2, unavailable: [] }]);
      expect(both[0]).not.toEqual(both[1]);
    });

    it('end with NotFound beyond the list, and for a single item', async () => {
      const { resolve } = createFixture({ ...listOf(names), [entryUrl('one')]: item('one') }, { playlistLimit: 2 });
      await expect(resolve(PAGE, { offset: 6 })).rejects.toMatchObject({ reason: 'no-media' });
      await expect(resolve(entryUrl('one'), { offset: 1 })).rejects.toMatchObject({ reason: 'no-media' });
      expect(await resolve(entryUrl('one'))).toMatchObject({ type: 'Media' });
    });

    it('keep items apart that share one id, and refresh each with its own page', async () => {
      const part = (mark: string) =>
        item('same', { formats: [{ format_id: 'a', url: origin.url(`/files/clip.mp4?${mark}`) }] });
      const { resolver, resolve, resources } = createFixture(
        { [PAGE]: list(part('one'), part('two'), part('three')) },
        { playlistLimit: 2 },
      );
      const itemsOf = async (offset: number) => {
        const resolved = await resolve(PAGE, { offset });
        return resolved.type === 'PlayList' ? resolved.items.map(({ resource }) => resource) : [];
      };
      const found = [...(await itemsOf(0)), ...(await itemsOf(2))];
      expect(new Set(found.map((resource) => resource?.id)).size).toBe(3);
      expect(resources.size).toBe(3);
      const third = found[2];
      expect(third?.trackNumber).toBe(3);
      expect(third && (await resolver.refresh(third)).tracks[0]?.url).toBe(origin.url('/files/clip.mp4?three'));
    });
  });

  it('pass the metadata of an entry to yt-dlp, without the data smuggled in its URL', async () => {
    const entry = listed('a', { _type: 'url_transparent', url: `${entryUrl('a')}#__youtubedl_smuggle=%7B%7D` });
    const { resolve, untilPending, answerNext } = createFixture();
    const resolving = resolve();
    await answerNext(list(entry));
    expect((await untilPending())[0]?.request).toMatchObject({ url: entryUrl('a'), entry });
    await answerNext(item('a'));
    expect(await resolving).toMatchObject({ items: [{ entry: { url: entryUrl('a') } }] });
  });

  it('use their own titles for their entries, apart from the plain link and from other lists', async () => {
    const other = 'https://media.example/other-list';
    const named = (title: string) => list(listed('a', { _type: 'url_transparent', title, url: entryUrl('a') }));
    const { resolve, answerNext } = createFixture();
    const titleOf = async (url: string, ...answers: Info[]) => {
      const resolving = resolve(url);
      for (const answer of answers) await answerNext(answer);
      const resolved = await resolving;
      const found = resolved.type === 'Media' ? resolved.resource : resolved.items[0]?.resource;
      return [found?.title, found?.id];
    };
    const plain = await titleOf(entryUrl('a'), item('a'));
    const alpha = await titleOf(PAGE, named('Alpha'), item('a', { title: 'Alpha' }));
    const beta = await titleOf(other, named('Beta'), item('a', { title: 'Beta' }));
    expect([plain[0], alpha[0], beta[0]]).toEqual(['Title a', 'Alpha', 'Beta']);
    expect(new Set([plain[1], alpha[1], beta[1]]).size).toBe(3);
    // All from the table.
    expect(await titleOf(entryUrl('a'))).toEqual(plain);
    expect(await titleOf(PAGE)).toEqual(alpha);
    expect(await titleOf(other)).toEqual(beta);
  });

  it('resolve concurrently when each contains the other', async () => {
    const other = entryUrl('other');
    const { resolve } = createFixture({
      [PAGE]: list(listed('a'), listed('other')),
      [other]: list(listed('b'), { _type: 'url', url: PAGE, id: 'page' }),
      [entryUrl('a')]: item('a'),
      [entryUrl('b')]: item('b'),
    });
    const ids = (await Promise.all([resolve(PAGE), resolve(other)])).map((resolved) =>
      resolved.type === 'PlayList' ? resolved.items.map(({ resource }) => resource?.origin.entryId) : [],
    );
    expect(ids).toEqual([
      ['a', 'b'],
      ['b', 'a'],
    ]);
  });

  it('do not stay fresh for longer when one entry always fails', async () => {
    const answers = listOf(['a', 'b'], { b: { kind: 'http', httpStatus: 503 } });
    const first = createFixture(answers);
    await first.items();
    const known = first.links.get(linkId(PAGE));
    if (!known) throw new Error('Not kept');
    const freshUntil = Math.floor(Date.now() / 1000) + 60;
    const later = createFixture(answers);
    later.links.set(known.id, { ...known, freshUntil });
    for (const [id, resource] of first.resources) later.resources.set(id, resource);
    expect(await later.items()).toEqual([found('a'), missing('b')]);
    expect(later.links.get(known.id)?.freshUntil).toBe(freshUntil);
  });

  it('are answered even when they are too large to store', async () => {
    const putLink = async (link: Link) => {
      if (link.type === 'PlayList') throw new ItemTooLarge('too large');
    };
    const state = { ...createMemoryState().state, putLink };
    const { items } = createFixture(listOf(['a']), { state });
    expect(await items()).toEqual(['a'].map(found));
  });

  it('resolve their entries by resolveEntry if given', async () => {
    const requests: unknown[] = [];
    const there = createFixture({ [entryUrl('a')]: item('a') });
    const { items } = createFixture(listOf(['a']), {
      resolveEntry: async (request, bounds) => {
        requests.push(JSON.parse(JSON.stringify(request)));
        return there.resolver.resolveEntry(request, bounds);
      },
    });
    expect(await items()).toEqual(['a'].map(found));
    expect(requests).toEqual([{ url: entryUrl('a'), entry: listed('a'), ancestors: [PAGE] }]);
  });

  it('are aborted with their caller', async () => {
    const { resolve, answerNext, untilPending, workers } = createFixture();
    const leaving = new AbortController();
    const left = resolve(PAGE, { signal: leaving.signal });
    await answerNext(list(listed('a')));
    await untilPending();
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect.poll(() => workers[0]?.pending[0]?.signal?.aborted).toBe(true);
  });
});
