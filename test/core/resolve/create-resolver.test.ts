import { afterEach, describe, expect, it, vi } from 'vitest';
import { StateUnavailable, StorageFull } from '../../../core/errors/index.ts';
import { linkId } from '../../../core/state/keys.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { WorkerFailure } from '../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';
import { asProblem } from '../../support/as-problem.ts';
import { createFixture, type Info, item, list, listed, origin, PAGE, status } from './fixture.ts';
import { createMemoryState } from './memory-state.ts';

describe('resolve', () => {
  it('stores an item and answers from the table while it is fresh', async () => {
    const { extracted, resource, resources, links, touched } = createFixture({ [PAGE]: item('1') });
    const first = await resource();
    expect(first).toMatchObject({ title: 'Title 1', author: 'Author', durationSeconds: 6, egress: 'direct' });
    expect(first.origin).toEqual({ url: PAGE, extractor: 'Site', entryId: '1' });
    expect(resources.get(first.id)).toEqual(first);
    expect(links.get(linkId(PAGE))).toMatchObject({ type: 'Media', resourceId: first.id });
    expect(await resource(`${PAGE}#t=10`)).toEqual(first);
    expect(extracted).toEqual([PAGE]);
    expect(touched).toEqual([first.id]);
  });

  it('resolves an item again when its URLs are about to expire', async () => {
    const expire = Math.floor(Date.now() / 1000) + 60;
    const dying = { ...item('1'), formats: [{ url: origin.url(`/files/clip.mp4?expire=${expire}`), format_id: 'a' }] };
    const { extracted, resource } = createFixture({ [PAGE]: dying });
    await resource();
    await resource();
    expect(extracted).toHaveLength(2);
  });

  it('resolves an item once for concurrent callers', async () => {
    const { resource, answerNext, workers } = createFixture();
    const answers = [resource(), resource(), resource(`${PAGE}#again`)];
    await answerNext(item('1'));
    expect(new Set((await Promise.all(answers)).map(({ id }) => id)).size).toBe(1);
    expect(workers[0]?.pending).toEqual([]);
  });

  it('is aborted when the last caller leaves', async () => {
    const { resolve, untilPending, workers } = createFixture();
    const leaving = new AbortController();
    const left = resolve(PAGE, { signal: leaving.signal });
    await untilPending();
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect.poll(() => workers[0]?.pending[0]?.signal?.aborted).toBe(true);
  });

  it.each<[string, Info, number]>([
    ['an item with only pictures', item('1', { formats: [{ url: 'https://a.example/', protocol: 'mhtml' }] }), 404],
    ['search results', { ...list(listed('1')), extractor_key: 'YoutubeSearchURL' }, 415],
  ])('of %s answers with the status of the contract', async (_, info, expected) => {
    await expect(asProblem(createFixture({ [PAGE]: info }).resolve())).rejects.toMatchObject(status(expected));
  });

  it.each(['getLink', 'putLink', 'putResource'] as const)('fails with 502 when the table fails at %s', async (call) => {
    const broken = { ...createMemoryState().state, [call]: () => Promise.reject(new StateUnavailable('no table')) };
    await expect(asProblem(createFixture({ [PAGE]: item('1') }, { state: broken }).resolve())).rejects.toMatchObject(
      status(502),
    );
  });
});

describe('an item whose formats could not all be read', () => {
  /** Without a size, the formats are probed. */
  const unsized = (path: string) => {
    const format = { protocol: 'https', ext: 'mp4', height: 180 };
    return item('1', {
      formats: [
        { ...format, format_id: 'audio', url: origin.url('/files/tone.m4a'), vcodec: 'none', acodec: 'mp4a.40.2' },
        { ...format, format_id: 'video', url: origin.url(path), vcodec: 'avc1', acodec: 'none' },
      ],
      duration: undefined,
    });
  };
  const types = ({ renditions }: Resource) => renditions.map(({ urlType, formatIds }) => [urlType, ...formatIds]);
  const PAIR = [
    ['Combined', 'video', 'audio'],
    ['Media', 'audio'],
  ];
  afterEach(() => vi.useRealTimers());
  const passSeconds = (seconds: number) => {
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(Date.now() + seconds * 1000);
  };

  it('is offered as its source describes it, and resolved again a little later', async () => {
    const answers = { [PAGE]: unsized('/trouble/500') };
    const { extracted, resource } = createFixture(answers);
    const first = await resource();
    expect(first).toMatchObject({ isIncomplete: true });
    expect(types(first)).toEqual(PAIR);
    expect(await resource()).toEqual(first);
    answers[PAGE] = unsized('/files/silent.mp4');
    passSeconds(31);
    const second = await resource();
    expect(extracted).toHaveLength(2);
    expect(second).not.toHaveProperty('isIncomplete');
    expect(types(second)).toEqual(PAIR);
    passSeconds(31);
    expect(await resource()).toEqual(second);
  });

  it('is resolved again as an entry of a list', async () => {
    const answers = { [PAGE]: list(listed('a')), 'https://media.example/a': unsized('/trouble/500') };
    const { extracted, items, resources } = createFixture(answers);
    await items();
    expect([...resources.values()]).toMatchObject([{ isIncomplete: true }]);
    answers['https://media.example/a'] = unsized('/files/silent.mp4');
    passSeconds(31);
    await items();
    expect(extracted).toEqual([PAGE, 'https://media.example/a', 'https://media.example/a']);
    expect([...resources.values()]).not.toMatchObject([{ isIncomplete: true }]);
  });

  it('is incomplete too when a request of yt-dlp took too long', async () => {
    const { resource, answerNext } = createFixture();
    const resolving = resource();
    await answerNext(item('1'), true);
    const { freshUntil, isIncomplete } = await resolving;
    expect(isIncomplete).toBe(true);
    expect(freshUntil).toBeLessThan(Date.now() / 1000 + 60);
  });
});

describe('refresh', () => {
  const urls = ({ tracks }: Resource) => tracks.map(({ formatId, url }) => [formatId, new URL(url).search]);
  const formatsOf = (info: Info) => info.formats as Info[];
  /** Without its second format. */
  const CUT = item('1', { formats: formatsOf(item('1')).slice(0, 1) });
  /** An item that is stored, and a refresh that finds something else. */
  const stored = async (options?: Parameters<typeof createFixture>[1]) => {
    const answers: Record<string, Info | WorkerFailure> = { [PAGE]: item('1') };
    const fixture = createFixture(answers, options);
    const before = await fixture.resource();
    const refreshAs = (answer: Info | WorkerFailure) => {
      answers[PAGE] = answer;
      return fixture.resolver.refresh(before);
    };
    return { ...fixture, before, refreshAs };
  };
  const moved = (info: Info, mark: string): Info => ({
    ...info,
    title: 'Another title',
    duration: 99,
    formats: formatsOf(info).map((format) => ({ ...format, url: `${format.url}&${mark}` })),
  });

  it('updates the URLs of the formats and keeps everything else', async () => {
    const { before, refreshAs, resources } = await stored();
    const after = await refreshAs(moved(item('1'), 'new'));
    expect(urls(after)).toEqual([
      ['high', '?high&new'],
      ['low', '?low&new'],
    ]);
    const { tracks: _before, freshUntil: _f, expiresAt: _e, ...promised } = before;
    expect(after).toMatchObject(promised);
    expect(after.tracks.map(({ durationSeconds }) => durationSeconds)).toEqual(
      before.tracks.map(({ durationSeconds }) => durationSeconds),
    );
    expect(resources.get(before.id)).toEqual(after);
  });

  it('returns the new URLs without storing them while the disk is full', async () => {
    let isFull = false;
    const putResource = async () => {
      if (isFull) throw new StorageFull('No space');
    };
    const state = { ...createMemoryState().state, putResource };
    const { refreshAs } = await stored({ state });
    isFull = true;
    expect(urls(await refreshAs(moved(item('1'), 'new')))[0]).toEqual(['high', '?high&new']);
  });

  it('drops a missing format from the tracks, not from the renditions', async () => {
    const { before, refreshAs } = await stored();
    const after = await refreshAs(CUT);
    expect(urls(after)).toEqual([['low', '?low']]);
    expect(after.renditions).toEqual(before.renditions);
  });

  it('keeps a missing format when a request of yt-dlp took too long', async () => {
    const { before } = await stored();
    const { resolver, answerNext } = createFixture();
    const refreshing = resolver.refresh(before);
    await answerNext(CUT, true);
    expect(urls(await refreshing)).toEqual(urls(before));
  });

  it('runs once for concurrent callers', async () => {
    const { extracted, resolver, before } = await stored();
    await Promise.all([1, 2, 3].map(() => resolver.refresh(before)));
    expect(extracted).toHaveLength(2);
  });

  it('uses the share of the client whose stream needs it', async () => {
    const { before } = await stored();
    const { resolve, resolver, untilPending, workers } = createFixture(undefined, { concurrency: 2 });
    const settled = (work: Promise<unknown>) => work.catch(() => undefined);
    const resolving = settled(resolve(`${PAGE}/own`, { client: 'a' }));
    await untilPending();
    const refreshing = settled(resolver.refresh(before, undefined, 'a'));
    const other = settled(resolve(`${PAGE}/other`, { client: 'b' }));
    await expect
      .poll(() => workers[0]?.pending.map(({ request }) => request.url))
      .toEqual([`${PAGE}/own`, `${PAGE}/other`]);
    await resolver.close();
    await Promise.all([resolving, refreshing, other]);
  });

  it('finds the item among the items of its page', async () => {
    const answers = { [PAGE]: list(item('1'), item('2')) };
    const { resolver, resolve } = createFixture(answers);
    const resolved = await resolve();
    const second = resolved.type === 'PlayList' ? resolved.items[1]?.resource : undefined;
    answers[PAGE] = list(moved(item('2'), 'two'), moved(item('1'), 'one'));
    expect(second && urls(await resolver.refresh(second))[0]).toEqual(['high', '?high&two']);
  });

  it.each<[string, Info | WorkerFailure, number]>([
    ['the page is gone', { kind: 'http', httpStatus: 410 }, 404],
    ['no format is left', item('1', { formats: [] }), 404],
    ['the page has other items now', list(item('8'), item('9')), 404],
    ['the source is in trouble', { kind: 'network' }, 502],
  ])('fails when %s', async (_, answer, expected) => {
    const { refreshAs } = await stored();
    await expect(asProblem(refreshAs(answer))).rejects.toMatchObject(status(expected));
  });
});
