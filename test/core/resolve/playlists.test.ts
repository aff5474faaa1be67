import { describe, expect, it } from 'vitest';
import { ItemTooLarge } from '../../../core/state/item.ts';
import { linkId } from '../../../core/state/keys.ts';
import type { Link } from '../../../core/state/resource.ts';
import type { WorkerFailure } from '../../../layers/tools/worker/worker-protocol.ts';
import { type Info, item, list, listed, origin, PAGE, setUp } from './set-up.ts';

describe('a playlist', () => {
  const entryUrl = (name: string) => `https://media.example/${name}`;

  it('leaves out what is gone, private or protected, and keeps what is only out of reach', async () => {
    const { items } = setUp({
      [PAGE]: list(...['a', 'gone', 'private', 'drm', 'broken', 'b'].map((name) => listed(name))),
      [entryUrl('a')]: item('a'),
      [entryUrl('b')]: item('b'),
      [entryUrl('private')]: { kind: 'login' },
      [entryUrl('drm')]: { kind: 'drm' },
      [entryUrl('broken')]: { kind: 'network' },
    });
    expect(await items()).toEqual([
      ['Title a', 'a'],
      ['Listed broken', undefined],
      ['Title b', 'b'],
    ]);
  });

  it('of one entry is a playlist too', async () => {
    const { items } = setUp({ [PAGE]: list(listed('a')), [entryUrl('a')]: item('a') });
    expect(await items()).toEqual([['Title a', 'a']]);
  });

  it('is completed by asking again', async () => {
    const answers: Record<string, Info | WorkerFailure> = {
      [PAGE]: list(listed('a'), listed('late')),
      [entryUrl('a')]: item('a'),
      [entryUrl('late')]: { kind: 'timeout' },
    };
    const { asked, items } = setUp(answers);
    expect(await items()).toEqual([
      ['Title a', 'a'],
      ['Listed late', undefined],
    ]);
    answers[entryUrl('late')] = item('late');
    expect(await items()).toEqual([
      ['Title a', 'a'],
      ['Title late', 'late'],
    ]);
    expect(await items()).toHaveLength(2);
    expect(asked).toEqual([PAGE, entryUrl('a'), entryUrl('late'), entryUrl('late')]);
  });

  it('keeps the metadata of entries that miss the deadline', async () => {
    const { extraction, workers } = setUp();
    const resolving = extraction.resolve(PAGE, { deadline: Date.now() + 400 });
    await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
    workers[0]?.questions.shift()?.answer(list(listed('a'), listed('b')));
    expect(await resolving).toMatchObject({
      type: 'PlayList',
      items: [{ entry: { url: entryUrl('a'), title: 'Listed a' } }, { entry: { title: 'Listed b' } }],
    });
  });

  it('waits past the deadline for nobody, wherever entries are resolved', async () => {
    const never = new Promise<never>(() => undefined);
    const { extraction } = setUp({ [PAGE]: list(listed('a')) }, { resolveEntry: () => never });
    expect(await extraction.resolve(PAGE, { deadline: Date.now() + 200 })).toMatchObject({
      items: [{ entry: { title: 'Listed a' } }],
    });
  });

  it('takes the entries of a list within it, and not itself', async () => {
    const { items } = setUp({
      [PAGE]: list(listed('inner'), listed('a')),
      [entryUrl('inner')]: list(listed('b'), listed('watch'), listed('inner')),
      [entryUrl('a')]: item('a'),
      [entryUrl('b')]: item('b'),
    });
    expect(await items()).toEqual([
      ['Title b', 'b'],
      ['Title a', 'a'],
    ]);
  });

  it('keeps items apart that share one id, and finds each again', async () => {
    const part = (mark: string) =>
      item('same', { formats: [{ format_id: 'a', url: origin.url(`/files/clip.mp4?${mark}`) }] });
    const { extraction, resolve } = setUp({ [PAGE]: list(part('one'), part('two')) });
    const resolved = await resolve();
    const [first, second] = resolved.type === 'PlayList' ? resolved.items.map(({ resource }) => resource) : [];
    expect(first?.id).not.toBe(second?.id);
    expect(second && (await extraction.refresh(second)).tracks[0]?.url).toBe(origin.url('/files/clip.mp4?two'));
  });

  it('ends at the limit', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const answers = Object.fromEntries(names.map((name) => [entryUrl(name), item(name)]));
    const { items } = setUp({ [PAGE]: list(...names.map((name) => listed(name))), ...answers }, { playlistLimit: 3 });
    expect(await items()).toHaveLength(3);
  });

  it('hands what the list says of an entry on, and shows no trace of what yt-dlp hid in a URL', async () => {
    const entry = listed('a', { _type: 'url_transparent', url: `${entryUrl('a')}#__youtubedl_smuggle=%7B%7D` });
    const { extraction, workers } = setUp();
    const resolving = extraction.resolve(PAGE, { deadline: Date.now() + 20_000 });
    await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
    workers[0]?.questions.shift()?.answer(list(entry));
    await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
    const question = workers[0]?.questions.shift();
    expect(question?.request).toMatchObject({ url: entryUrl('a'), entry });
    question?.answer(item('a'));
    expect(await resolving).toMatchObject({ items: [{ entry: { url: entryUrl('a') } }] });
  });

  it('names its entries for itself alone: the plain link and other lists keep their own', async () => {
    const other = 'https://media.example/other-list';
    const named = (title: string) => list(listed('a', { _type: 'url_transparent', title, url: entryUrl('a') }));
    const { extraction, workers } = setUp();
    const titleOf = async (url: string, ...answers: Info[]) => {
      const resolving = extraction.resolve(url, { deadline: Date.now() + 20_000 });
      for (const answer of answers) {
        await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
        workers[0]?.questions.shift()?.answer(answer);
      }
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

  it('may contain a list that contains it, both asked at once', async () => {
    const other = entryUrl('other');
    const { resolve } = setUp({
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

  it('goes stale in its time, though one of its entries always fails', async () => {
    const answers: Record<string, Info | WorkerFailure> = {
      [PAGE]: list(listed('a'), listed('b')),
      [entryUrl('a')]: item('a'),
      [entryUrl('b')]: { kind: 'http', httpStatus: 503 },
    };
    const first = setUp(answers);
    await first.items();
    const known = first.links.get(linkId(PAGE));
    if (!known) throw new Error('Not kept');
    const freshUntil = Math.floor(Date.now() / 1000) + 60;
    const later = setUp(answers);
    later.links.set(known.id, { ...known, freshUntil });
    for (const [id, resource] of first.resources) later.resources.set(id, resource);
    expect(await later.items()).toEqual([
      ['Title a', 'a'],
      ['Listed b', undefined],
    ]);
    expect(later.links.get(known.id)?.freshUntil).toBe(freshUntil);
  });

  it('that the table cannot take is answered all the same', async () => {
    const absent = async () => undefined;
    const putLink = async (link: Link) => {
      if (link.type === 'PlayList') throw new ItemTooLarge('too large');
    };
    const state = { getLink: absent, getResource: absent, putLink, putResource: absent, touchResource: absent };
    const { items } = setUp({ [PAGE]: list(listed('a')), [entryUrl('a')]: item('a') }, { state });
    expect(await items()).toEqual([['Title a', 'a']]);
  });

  it('resolves its entries where it is told to', async () => {
    const requests: unknown[] = [];
    const there = setUp({ [entryUrl('a')]: item('a') });
    const { items } = setUp(
      { [PAGE]: list(listed('a')) },
      {
        resolveEntry: async (request, bounds) => {
          requests.push(JSON.parse(JSON.stringify(request)));
          return there.extraction.resolveEntry(request, bounds);
        },
      },
    );
    expect(await items()).toEqual([['Title a', 'a']]);
    expect(requests).toEqual([{ url: entryUrl('a'), entry: listed('a'), within: [PAGE] }]);
  });

  it('ends with its caller', async () => {
    const { resolve, workers } = setUp();
    const leaving = new AbortController();
    const left = resolve(PAGE, { signal: leaving.signal });
    await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
    workers[0]?.questions.shift()?.answer(list(listed('a')));
    await expect.poll(() => workers[0]?.questions.length, { interval: 5 }).toBe(1);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect.poll(() => workers[0]?.questions[0]?.signal?.aborted).toBe(true);
  });
});
