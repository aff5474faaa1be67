import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ProblemDetails, problems } from '../../../core/api/problem.ts';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { NotFound, StateUnavailable } from '../../../core/errors/errors.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import type { EntryRequest } from '../../../core/resolve/resolver.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { createFanOut, createResolveEntry, type EntryEvent } from '../../../lambdas/api/fan-out.ts';
import { FunctionFailed } from '../../bundled/bundled-function.ts';
import { InvokeRefused } from '../../bundled/invoke-api.ts';
import { fakeWorkers } from '../../core/resolve/fake-workers.ts';
import { RESOURCE } from '../fakes.ts';
import { type InvokeFixture, startInvokeFixture } from '../invoke-fakes.ts';

const FUNCTION = 'get-resource';
const forEver = new Promise<never>(() => undefined);

let world: InvokeFixture;
const egress = createEgress({ allow: [] });
beforeAll(async () => {
  world = await startInvokeFixture();
});
afterAll(async () => {
  await egress.close();
  await world.close();
});

let lists = 0;
let page: string;
beforeEach(() => {
  // Answered from the table otherwise.
  lists += 1;
  page = `https://media.example/list/${lists}`;
});

const urlOf = (name: string) => `https://media.example/entry/${name}`;
const nameOf = ({ request }: EntryEvent) => request.url.split('/').at(-1) ?? '';
const resourceNamed = (name: string): Resource => ({
  ...RESOURCE,
  id: `id-${lists}-${name}`,
  origin: { ...RESOURCE.origin, url: urlOf(name), entryId: name },
  title: `Resolved ${name}`,
  expiresAt: Math.floor(Date.now() / 1000) + 3600,
});

/** The items that a list of these entries comes to: its title, and its resource if it has one. */
async function resolveList(names: readonly string[], { patience = 20_000, entriesAtOnce = 24 } = {}) {
  const entries = names.map((name) => ({ _type: 'url', url: urlOf(name), id: name, title: `Listed ${name}` }));
  const extraction = createResolver({
    tools: { ytDlp: () => ({ version: '1', command: ['yt-dlp'], source: 'path' }) },
    egress,
    state: world.state,
    entriesAtOnce,
    resolveEntry: createFanOut({
      state: world.state,
      invoke: (event, signal) => world.invoker.invoke(FUNCTION, event, signal),
    }),
    startWorker: fakeWorkers(() => ({ _type: 'playlist', id: 'list', title: 'List', entries })).start,
  });
  try {
    const resolved = await extraction.resolve(page, { deadline: Date.now() + patience });
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    return resolved.items.map(({ entry, resource }) => [entry.title, resource?.id]);
  } finally {
    await extraction.close();
  }
}

/** The function's other end, as the entry wires it: what an entry comes to is kept in the table there. */
function playFunction(resolve: (name: string) => Promise<readonly Resource[]>) {
  const logged: string[] = [];
  const note = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const resolveEntry = createResolveEntry({
    extraction: { resolveEntry: (request) => resolve(request.url.split('/').at(-1) ?? '') },
    log: { info: note, warn: note, error: note },
  });
  const events: EntryEvent[] = [];
  world.functions.set(FUNCTION, async (event: EntryEvent) => {
    events.push(event);
    return resolveEntry(event);
  });
  return { events, logged };
}

/** For a test that has only some of its events fail. */
function functionInPlace(): (event: EntryEvent) => Promise<unknown> {
  const played = world.functions.get(FUNCTION);
  if (!played) throw new Error('No function is in place');
  return (event) => played(event as never);
}

async function keep(name: string): Promise<Resource[]> {
  const resource = resourceNamed(name);
  await world.state.putResource(resource);
  return [resource];
}
const kept = (name: string) => [`Resolved ${name}`, resourceNamed(name).id];
const bare = (name: string) => [`Listed ${name}`, undefined];

describe('the entries of a playlist', () => {
  it('are each an invocation of their own, with all it needs to know, and come from the table', async () => {
    const { events } = playFunction(keep);
    expect(await resolveList(['a', 'b', 'c'])).toEqual([kept('a'), kept('b'), kept('c')]);
    expect(events.map(nameOf).sort()).toEqual(['a', 'b', 'c']);
    const request: EntryRequest = {
      url: urlOf('a'),
      entry: { _type: 'url', url: urlOf('a'), id: 'a', title: 'Listed a' },
      ancestors: [page],
    };
    expect(events).toContainEqual({ kind: 'entry', request, deadline: expect.any(Number) });
  });

  it('give up a second before their caller does, so that a failure gets back', async () => {
    const events: EntryEvent[] = [];
    const resolveEntry = createFanOut({
      state: world.state,
      invoke: async (event) => {
        events.push(event);
        return { problem: { title: 'Resource Not Found', status: 404 } };
      },
    });
    const request = { url: urlOf('a'), entry: {}, ancestors: [] };
    const { signal } = new AbortController();
    await expect(resolveEntry(request, { deadline: 10_000, signal })).rejects.toBeInstanceOf(NotFound);
    expect(events).toEqual([{ kind: 'entry', request, deadline: 9_000 }]);
  });

  it('are more than one where an entry is a list itself', async () => {
    playFunction(async (name) => (await Promise.all([keep(`${name}1`), keep(`${name}2`)])).flat());
    expect(await resolveList(['a'])).toEqual([kept('a1'), kept('a2')]);
  });

  it('are resolved side by side, and no more at once than they may', async () => {
    let running = 0;
    let most = 0;
    let full = Promise.withResolvers<void>();
    playFunction(async (name) => {
      running += 1;
      most = Math.max(most, running);
      const group = full;
      if (running === 3) {
        full = Promise.withResolvers();
        group.resolve();
      }
      await group.promise;
      running -= 1;
      return keep(name);
    });
    const names = Array.from({ length: 9 }, (_, index) => `n${index}`);
    expect(await resolveList(names, { entriesAtOnce: 3 })).toEqual(names.map(kept));
    expect(most).toBe(3);
  });
});

describe('an entry', () => {
  it.each([
    ['is gone', problems.notFound()],
    ['is protected', problems.notDeliverable('The media is DRM protected.')],
  ])('that %s is left out: its status survives the way', async (_, problem) => {
    const { logged } = playFunction((name) => (name === 'b' ? Promise.reject(problem) : keep(name)));
    expect(await resolveList(['a', 'b', 'c'])).toEqual([kept('a'), kept('c')]);
    expect(logged).toEqual([]);
  });

  it.each<[string, () => Promise<Resource[]>]>([
    ['cannot be fetched', () => Promise.reject(problems.fetchFailed(new Error('at https://u:p@cdn.example/f?t=hush')))],
    ['meets maintenance', () => Promise.reject(problems.maintenance('Updating yt-dlp'))],
    ['meets a table that is away', () => Promise.reject(new StateUnavailable('gone'))],
    ['breaks', () => Promise.reject(new TypeError('odd'))],
  ])('that %s stays, bare, and the log says why without what links carry', async (_, fail) => {
    const { logged } = playFunction((name) => (name === 'b' ? fail() : keep(name)));
    expect(await resolveList(['a', 'b', 'c'])).toEqual([kept('a'), bare('b'), kept('c')]);
    expect(logged).toEqual([expect.stringMatching(/^Failed to resolve a playlist entry/)]);
    expect(logged[0]).not.toMatch(/hush|u:p/);
  });

  it('whose function fails stays, bare', async () => {
    playFunction(keep);
    const answer = functionInPlace();
    world.functions.set(FUNCTION, async (event: EntryEvent) => {
      if (nameOf(event) !== 'b') return answer(event);
      throw new FunctionFailed({ errorType: 'Sandbox.Timedout', errorMessage: 'Task timed out' });
    });
    expect(await resolveList(['a', 'b'])).toEqual([kept('a'), bare('b')]);
  });

  it('that is throttled twice is there in the end', async () => {
    let refused = 0;
    playFunction(keep);
    const answer = functionInPlace();
    world.functions.set(FUNCTION, async (event: EntryEvent) => {
      refused += 1;
      if (refused <= 2) throw new InvokeRefused(429, 'TooManyRequestsException');
      return answer(event);
    });
    expect(await resolveList(['a'])).toEqual([kept('a')]);
    expect(refused).toBe(3);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['never answers', () => forEver],
    ['is always throttled', () => Promise.reject(new InvokeRefused(429, 'TooManyRequestsException'))],
  ])(
    'that %s stays, bare, and nobody waits for it past the deadline',
    async (_, answer) => {
      playFunction(keep);
      const other = functionInPlace();
      world.functions.set(FUNCTION, (event: EntryEvent) => (nameOf(event) === 'b' ? answer() : other(event)));
      expect(await resolveList(['a', 'b'], { patience: 1_500 })).toEqual([kept('a'), bare('b')]);
      // An invocation alone may take longer than the test.
    },
    20_000,
  );

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a text', 'resources'],
    ['a list', []],
    ['ids that are none', { resources: [1] }],
    ['a resource itself', { resources: [{ id: 'x' }] }],
    ['no ids at all', { resources: [] }],
    ['ids of what is not in the table', { resources: ['nobody'] }],
    ['a problem without a status', { problem: { title: 'Resource Not Found' } }],
    ['a problem without a title', { problem: { status: 404 } }],
    ['a status in words', { problem: { title: 'Resource Not Found', status: '404' } }],
    ['an answer of the HTTP API', { statusCode: 404, body: '{}' }],
  ])('that comes back as %s stays, bare', async (_, nonsense) => {
    world.functions.set(FUNCTION, async () => nonsense);
    expect(await resolveList(['a'])).toEqual([bare('a')]);
  });
});

describe('the other end', () => {
  const eventFor = (url: string): EntryEvent => ({
    kind: 'entry',
    request: { url, entry: {}, ancestors: [] },
    deadline: Date.now() + 1_000,
  });
  const answerTo = async (outcome: Promise<readonly Resource[]>) => {
    const log: string[] = [];
    const note = (message: string) => void log.push(message);
    const resolve = createResolveEntry({
      extraction: { resolveEntry: () => outcome },
      log: { info: note, warn: note, error: note },
    });
    return { answer: await resolve(eventFor(urlOf('a'))), log };
  };

  it('answers ids, which are few bytes however much they stand for', async () => {
    const { answer } = await answerTo(Promise.resolve([resourceNamed('a'), resourceNamed('b')]));
    expect(answer).toEqual({ resources: [resourceNamed('a').id, resourceNamed('b').id] });
  });

  it.each<[unknown, ProblemDetails, number]>([
    [problems.notFound(), { title: 'Resource Not Found', status: 404 }, 0],
    [problems.notDeliverable('Why'), { title: 'Unsupported Media Type', status: 415, detail: 'Why' }, 0],
    [problems.fetchFailed(), { title: 'Fetch Failed', status: 502 }, 1],
    [new Error('odd'), { title: 'Internal Server Error', status: 500 }, 1],
  ])('answers a problem, and never fails: %s', async (error, problem, lines) => {
    const { answer, log } = await answerTo(Promise.reject(error));
    expect(answer).toEqual({ problem });
    expect(log).toHaveLength(lines);
  });
});
