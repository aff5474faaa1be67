import { afterAll, describe, expect, it } from 'vitest';
import { createEgress } from '../../../layers/egress/index.ts';
import { createExtraction, type ExtractionOptions } from '../../../layers/extraction/index.ts';
import { ItemTooLarge, type Link, linkId, type Resource } from '../../../layers/state/index.ts';
import type { WorkerFailure } from '../../../layers/tools/index.ts';
import { startOrigin } from '../../origin/server.ts';
import { fakeWorkers } from './fake-workers.ts';

type Info = Record<string, unknown>;

const PAGE = 'https://media.example/watch';
const status = (status: number) => ({ details: { status } });

const origin = await startOrigin();
const egress = createEgress({ allow: [origin.host] });
afterAll(async () => {
  await egress.close();
  await origin.close();
});

/** An item of two formats, as yt-dlp describes it. */
const item = (id: string, more: Info = {}): Info => ({
  id,
  extractor_key: 'Site',
  title: `Title ${id}`,
  uploader: 'Author',
  duration: 6,
  formats: ['low', 'high'].map((format_id, index) => ({
    format_id,
    url: origin.url(`/files/clip.mp4?${format_id}`),
    protocol: 'https',
    ext: 'mp4',
    vcodec: 'avc1',
    acodec: 'mp4a.40.2',
    height: 180 * (index + 1),
    filesize: 100,
  })),
  ...more,
});
const listed = (name: string, more: Info = {}): Info => ({
  _type: 'url',
  url: `https://media.example/${name}`,
  id: name,
  title: `Listed ${name}`,
  ...more,
});
const list = (...entries: Info[]): Info => ({ _type: 'playlist', id: 'list', title: 'List', entries });

function setUp(answers?: Record<string, Info | WorkerFailure>, options: Partial<ExtractionOptions> = {}) {
  const asked: string[] = [];
  const { workers, start } = fakeWorkers(
    answers &&
      ((request) => {
        asked.push(request.url);
        return answers[request.url] ?? { kind: 'http', httpStatus: 404 };
      }),
  );
  const links = new Map<string, Link>();
  const resources = new Map<string, Resource>();
  const touched: string[] = [];
  const extraction = createExtraction({
    tools: { ytDlp: () => ({ version: '1', command: ['yt-dlp'], source: 'path' }) },
    egress,
    state: {
      getLink: async (id) => links.get(id),
      putLink: async (link) => void links.set(link.id, link),
      getResource: async (id) => resources.get(id),
      putResource: async (resource) => void resources.set(resource.id, resource),
      touchResource: async ({ id }) => void touched.push(id),
    },
    startWorker: start,
    ...options,
  });
  const resolve = (url = PAGE, more: { signal?: AbortSignal; deadline?: number } = {}) =>
    extraction.resolve(url, { deadline: Date.now() + 20_000, ...more });
  const resource = async (url?: string) => {
    const resolved = await resolve(url);
    if (resolved.type !== 'Media') throw new Error('Not one item');
    return resolved.resource;
  };
  const items = async (url?: string) => {
    const resolved = await resolve(url);
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    return resolved.items.map(({ entry, resource }) => [entry.title, resource?.origin.entryId]);
  };
  return { asked, extraction, items, links, resolve, resource, resources, touched, workers };
}

describe('one item', () => {
  it('is kept, and answered from the table while it is fresh', async () => {
    const { asked, resource, resources, links, touched } = setUp({ [PAGE]: item('1') });
    const first = await resource();
    expect(first).toMatchObject({ title: 'Title 1', author: 'Author', durationSeconds: 6, egress: 'direct' });
    expect(first.origin).toEqual({ url: PAGE, extractor: 'Site', entryId: '1' });
    expect(resources.get(first.id)).toEqual(first);
    expect(links.get(linkId(PAGE))).toMatchObject({ type: 'Media', resourceId: first.id });
    expect(await resource(`${PAGE}#t=10`)).toEqual(first);
    expect(asked).toEqual([PAGE]);
    expect(touched).toEqual([first.id]);
  });

  it('is resolved anew when its links are about to die', async () => {
    const expire = Math.floor(Date.now() / 1000) + 60;
    const dying = { ...item('1'), formats: [{ url: origin.url(`/files/clip.mp4?expire=${expire}`), format_id: 'a' }] };
    const { asked, resource } = setUp({ [PAGE]: dying });
    await resource();
    await resource();
    expect(asked).toHaveLength(2);
  });

  it('is resolved once for all who ask meanwhile', async () => {
    const { resource, workers } = setUp();
    const answers = [resource(), resource(), resource(`${PAGE}#again`)];
    await expect.poll(() => workers[0]?.questions.length).toBe(1);
    workers[0]?.questions[0]?.answer(item('1'));
    expect(new Set((await Promise.all(answers)).map(({ id }) => id)).size).toBe(1);
    expect(workers[0]?.questions).toHaveLength(1);
  });

  it('is given up when the last one leaves', async () => {
    const { resolve, workers } = setUp();
    const leaving = new AbortController();
    const left = resolve(PAGE, { signal: leaving.signal });
    await expect.poll(() => workers[0]?.questions.length).toBe(1);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect.poll(() => workers[0]?.questions[0]?.signal?.aborted).toBe(true);
  });

  it.each<[string, Info, number]>([
    ['only protected formats', item('1', { formats: [{ url: 'https://a.example/', has_drm: true }] }), 415],
    ['only ways that are not handled', item('1', { formats: [{ url: 'rtmp://a.example/', protocol: 'rtmp' }] }), 415],
    ['only pictures', item('1', { formats: [{ url: 'https://a.example/', protocol: 'mhtml' }] }), 404],
    ['no formats', item('1', { formats: [] }), 404],
    ['an empty list', list(), 404],
    ['search results', { ...list(listed('1')), extractor_key: 'YoutubeSearchURL' }, 415],
  ])('with %s answers as the contract says', async (_, info, expected) => {
    await expect(setUp({ [PAGE]: info }).resolve()).rejects.toMatchObject(status(expected));
  });

  it.each(['getLink', 'putLink', 'putResource'] as const)('fails when the table does not answer %s', async (call) => {
    const absent = async () => undefined;
    const state = { getLink: absent, getResource: absent, putLink: absent, putResource: absent, touchResource: absent };
    const broken = { ...state, [call]: () => Promise.reject(new Error('no table')) };
    await expect(setUp({ [PAGE]: item('1') }, { state: broken }).resolve()).rejects.toMatchObject(status(502));
  });
});

describe('refresh', () => {
  const places = ({ tracks }: Resource) => tracks.map(({ formatId, url }) => [formatId, new URL(url).search]);
  const moved = (info: Info, mark: string): Info => ({
    ...info,
    title: 'Another title',
    duration: 99,
    formats: (info.formats as Info[]).map((format) => ({ ...format, url: `${format.url}&${mark}` })),
  });

  it('finds where the formats are now, and keeps every promise', async () => {
    const answers = { [PAGE]: item('1') };
    const { extraction, resource, resources } = setUp(answers);
    const before = await resource();
    answers[PAGE] = moved(item('1'), 'new');
    const after = await extraction.refresh(before);
    expect(places(after)).toEqual([
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

  it('drops a format that is gone from the tracks alone', async () => {
    const answers = { [PAGE]: item('1') };
    const { extraction, resource } = setUp(answers);
    const before = await resource();
    answers[PAGE] = { ...item('1'), formats: (item('1').formats as Info[]).slice(0, 1) };
    const after = await extraction.refresh(before);
    expect(places(after)).toEqual([['low', '?low']]);
    expect(after.renditions).toEqual(before.renditions);
  });

  it('is one for all who wait', async () => {
    const answers = { [PAGE]: item('1') };
    const { asked, extraction, resource } = setUp(answers);
    const before = await resource();
    await Promise.all([extraction.refresh(before), extraction.refresh(before), extraction.refresh(before)]);
    expect(asked).toHaveLength(2);
  });

  it('finds the item again among those of its page', async () => {
    const answers = { [PAGE]: list(item('1'), item('2')) };
    const { extraction, resolve } = setUp(answers);
    const resolved = await resolve();
    const second = resolved.type === 'PlayList' ? resolved.items[1]?.resource : undefined;
    answers[PAGE] = list(moved(item('2'), 'two'), moved(item('1'), 'one'));
    expect(second && places(await extraction.refresh(second))[0]).toEqual(['high', '?high&two']);
  });

  it.each<[string, Info | WorkerFailure, number]>([
    ['the page is gone', { kind: 'http', httpStatus: 410 }, 404],
    ['no format is left', item('1', { formats: [] }), 404],
    ['the page has other items now', list(item('8'), item('9')), 404],
    ['the source is in trouble', { kind: 'network' }, 502],
  ])('fails when %s', async (_, answer, expected) => {
    const answers: Record<string, Info | WorkerFailure> = { [PAGE]: item('1') };
    const { extraction, resource } = setUp(answers);
    const before = await resource();
    answers[PAGE] = answer;
    await expect(extraction.refresh(before)).rejects.toMatchObject(status(expected));
  });
});

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
