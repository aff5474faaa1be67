import { beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import {
  InMaintenance,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  UpstreamError,
} from '../../../core/errors/index.ts';
import { fieldsWithoutSecrets } from '../../../core/log/index.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import type { EntryRequest } from '../../../core/resolve/index.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { createFanOut, createResolveEntry, type EntryEvent } from '../../../lambdas/api/fan-out.ts';
import { fakeWorkers } from '../../core/resolve/fake-workers.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { openTemporaryState } from '../../support/temporary-state.ts';
import { RESOURCE } from '../fakes.ts';

const forEver = new Promise<never>(() => undefined);

const { state } = closeAfterwards(await openTemporaryState());
const egress = closeAfterwards(createEgress({ allow: [] }));

/** The function that is invoked, as `invoker.test` has it answer. */
let invoke: (event: EntryEvent) => Promise<unknown>;
let lists = 0;
let page: string;
beforeEach(() => {
  // A new list each time: a known one would be answered from the table.
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

/** Resolves a list of these entries to their titles, and resources where they have one. */
async function resolveList(names: readonly string[], { patience = 20_000, entriesAtOnce = 24, here = keep } = {}) {
  const entries = names.map((name) => ({ _type: 'url', url: urlOf(name), id: name, title: `Listed ${name}` }));
  const resolver = createResolver({
    tools: { ytDlp: () => ({ version: '1', command: ['yt-dlp'], source: 'path' }) },
    egress,
    state,
    entriesAtOnce,
    resolveEntry: createFanOut({
      state,
      invoke: async (event, signal) => {
        const { promise: aborted, reject } = Promise.withResolvers<never>();
        signal.addEventListener('abort', () => reject(signal.reason));
        // As JSON, in both directions.
        const answer = invoke(JSON.parse(JSON.stringify(event))).then((value) => JSON.parse(JSON.stringify(value)));
        return Promise.race([answer, aborted]);
      },
      resolveHere: ({ url }) => here(url.split('/').at(-1) ?? ''),
    }),
    start: fakeWorkers(() => ({ _type: 'playlist', id: 'list', title: 'List', entries })).start,
  });
  try {
    const resolved = await resolver.resolve(page, { deadline: Date.now() + patience });
    if (resolved.type !== 'PlayList') throw new Error('Not a list');
    return resolved.items.map(({ entry, resource }) => [entry.title, resource?.id]);
  } finally {
    await resolver.close();
  }
}

/** The invoked function, wired as in its entry: it saves the resolved resources in the table. */
function playFunction(resolve: (name: string) => Promise<readonly Resource[]>) {
  const logged: string[] = [];
  const note = (message: string, fields: Record<string, unknown> = {}) =>
    void logged.push(`${message} ${JSON.stringify(fieldsWithoutSecrets(fields))}`);
  const resolveEntry = createResolveEntry({
    resolver: { resolveEntry: (request) => resolve(request.url.split('/').at(-1) ?? '') },
    log: { info: note, warn: note, error: note },
  });
  const events: EntryEvent[] = [];
  invoke = async (event) => {
    events.push(event);
    return resolveEntry(event);
  };
  return { events, logged };
}

async function keep(name: string): Promise<Resource[]> {
  const resource = resourceNamed(name);
  await state.putResource(resource);
  return [resource];
}
const kept = (name: string) => [`Resolved ${name}`, resourceNamed(name).id];
const bare = (name: string) => [`Listed ${name}`, undefined];

describe('createFanOut', () => {
  it('resolves each entry in its own invocation and reads the resources from the table', async () => {
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

  it('ends an invocation one second before the deadline of its caller', async () => {
    const events: EntryEvent[] = [];
    const resolveEntry = createFanOut({
      state,
      invoke: async (event) => {
        events.push(event);
        return { failure: 'final', reason: 'private' };
      },
      resolveHere: () => forEver,
    });
    const request = { url: urlOf('a'), entry: {}, ancestors: [] };
    const { signal } = new AbortController();
    await expect(resolveEntry(request, { deadline: 10_000, signal, client: '192.0.2.1' })).rejects.toMatchObject({
      name: 'NotFound',
      reason: 'private',
    });
    expect(events).toEqual([{ kind: 'entry', request, deadline: 9_000, client: '192.0.2.1' }]);
  });

  it('returns several resources for an entry that is a list', async () => {
    playFunction(async (name) => (await Promise.all([keep(`${name}1`), keep(`${name}2`)])).flat());
    expect(await resolveList(['a'])).toEqual([kept('a1'), kept('a2')]);
  });

  it('resolves entries in parallel up to entriesAtOnce', async () => {
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

describe('an entry of a fanned-out playlist', () => {
  it.each<[string, unknown, 'left out' | 'bare', number]>([
    ['not found', new NotFound(), 'left out', 0],
    ['DRM protected', new NotDeliverable('The media is DRM protected.', { reason: 'drm' }), 'left out', 0],
    ['not started', new NotFound('It has not started', { reason: 'not-started' }), 'bare', 0],
    ['refused to this server', new NotDeliverable('Why', { reason: 'bot-check' }), 'bare', 0],
    ['not fetched', new UpstreamError('Failed at https://u:p@cdn.example/f?t=hush'), 'bare', 1],
    ['met by maintenance', new InMaintenance('Updating yt-dlp'), 'bare', 1],
    ['not stored', new StateUnavailable('gone'), 'bare', 1],
    ['failing unexpectedly', new TypeError('odd'), 'bare', 1],
  ])(
    'that is %s is left out or has bare metadata, logged without secrets of URLs',
    async (_, failure, outcome, lines) => {
      const { logged } = playFunction((name) => (name === 'b' ? Promise.reject(failure) : keep(name)));
      expect(await resolveList(['a', 'b', 'c'])).toEqual([
        kept('a'),
        ...(outcome === 'bare' ? [bare('b')] : []),
        kept('c'),
      ]);
      expect(logged).toEqual(
        Array(lines).fill(expect.stringMatching(/^Failed to resolve a playlist entry(?!.*(hush|u:p))/)),
      );
    },
  );

  it('is resolved by the invocation of its list when it gets none of its own', async () => {
    playFunction(keep);
    const answer = invoke;
    invoke = async (event) => {
      if (nameOf(event) === 'a') return answer(event);
      throw Object.assign(new Error('Rate exceeded'), { name: 'TooManyRequestsException' });
    };
    const resolvedHere: string[] = [];
    const here = async (name: string) => {
      resolvedHere.push(name);
      if (name === 'c') throw new NotFound();
      return keep(name);
    };
    expect(await resolveList(['a', 'b', 'c'], { here })).toEqual([kept('a'), kept('b')]);
    expect(resolvedHere.sort()).toEqual(['b', 'c']);
  });

  it('keeps bare metadata at the deadline when its invocation hangs', async () => {
    invoke = () => forEver;
    expect(await resolveList(['a'], { patience: 3_000 })).toEqual([bare('a')]);
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a time-out', new Error('get-resource failed: {"errorType":"Sandbox.Timedout"}')],
    ['a string', 'resources'],
    ['an array', []],
    ['ids that are not strings', { resources: [1] }],
    ['a resource', { resources: [{ id: 'x' }] }],
    ['no ids', { resources: [] }],
    ['an id that is not in the table', { resources: ['unknown'] }],
    ['an unknown failure', { failure: 404 }],
    ['a response of the HTTP API', { statusCode: 404, body: '{}' }],
  ])('keeps bare metadata after an invalid response or none: %s', async (_, nonsense) => {
    invoke = async () => {
      if (nonsense instanceof Error) throw nonsense;
      return nonsense;
    };
    expect(await resolveList(['a'])).toEqual([bare('a')]);
  });
});
