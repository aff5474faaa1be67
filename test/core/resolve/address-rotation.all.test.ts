import { describe, expect, it } from 'vitest';
import { createEgress, type EgressOptions } from '../../../core/egress/create-egress.ts';
import { NotDeliverable, NotFound, UpstreamError } from '../../../core/errors/index.ts';
import { createResolver } from '../../../core/resolve/create-resolver.ts';
import { createAddressRotation } from '../../../core/resolve/extraction-pool.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { createSourceOpeners } from '../../../stream-service/source/open-source.ts';
import { PLUGIN_DIR } from '../../contract/target-settings.ts';
import { startOrigin } from '../../origin/server.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { createMemoryState } from './memory-state.ts';

const ADDRESSES = ['127.0.0.2', '127.0.0.3'];
const LINK = 'https://site.example/watch';

const bot = () => new NotDeliverable('bot', { reason: 'bot-check' });
const limited = () => new UpstreamError('limited', { reason: 'rate-limited', retryAfterSeconds: 600 });
const refused = () => new NotDeliverable('refused', { reason: 'refused' });
const region = () => new NotDeliverable('region', { reason: 'region' });
const isPrivate = () => new NotDeliverable('private', { reason: 'private' });
const broken = () => new UpstreamError('broken');
const late = () => new DOMException('late', 'TimeoutError');
const served = () => undefined;

/** Extracts a link by up to ten addresses, which fail in turn with the outcomes; `served` is a success. */
function extractWith(outcomes: readonly (() => Error | undefined)[], options: Partial<EgressOptions> = {}) {
  const sourceAddresses = Array.from({ length: 10 }, (_, index) => `192.0.2.${index + 1}`);
  const egress = closeAfterwards(createEgress({ allow: [], sourceAddresses, ...options }));
  const tried: string[] = [];
  const extract = createAddressRotation(
    {
      async extract({ identity }) {
        const error = outcomes[Math.min(tried.push(identity), outcomes.length) - 1]?.();
        if (error) throw error;
        return { info: {}, isIncomplete: false, identity };
      },
    },
    egress,
  );
  const run = (seconds = 20, signal = new AbortController().signal) =>
    extract({ url: LINK, deadline: Date.now() + seconds * 1000, signal });
  return { run, tried, blocked: () => egress.blockedAddresses().map(({ address }) => Number(address.split('.')[3])) };
}

describe('an extraction that a site blocks', () => {
  it.each<[string, (() => Error | undefined)[], readonly number[]]>([
    ['a bot check', [bot, served], [1]],
    ['a rate limit', [limited, served], [1]],
    ['a refusal that another address does not get', [refused, served], [1]],
    ['two blocks', [bot, limited, served], [1, 2]],
    ['a block and a broken address', [bot, broken, served], [1]],
    ['a region', [region, served], []],
  ])('succeeds by the next address after %s', async (_, outcomes, blocked) => {
    const extraction = extractWith(outcomes);
    expect(await extraction.run()).toMatchObject({ identity: `address-192.0.2.${outcomes.length}` });
    expect(extraction.tried).toHaveLength(outcomes.length);
    expect(extraction.blocked()).toEqual(blocked);
  });

  it.each<[string, (() => Error | undefined)[], number, string, number]>([
    ['all are blocked', [bot], 8, 'bot', 8],
    ['all are refused, which is the link', [refused], 3, 'refused', 0],
    ['refusals and a bot check', [refused, bot, refused], 8, 'bot', 1],
    ['a rate limit, then a bot check', [limited, bot], 8, 'bot', 8],
    ['the site then says that it is private', [bot, isPrivate], 2, 'private', 1],
    ['the site then knows no such link', [bot, () => new NotFound('unknown')], 2, 'unknown', 1],
    ['the others are broken', [bot, broken], 8, 'bot', 1],
    ['the time is over', [bot, late], 8, 'bot', 1],
    ['it is private', [isPrivate], 1, 'private', 0],
    ['the source is broken', [broken], 1, 'broken', 0],
  ])('fails with what tells most when %s', async (_, outcomes, attempts, message, blocked) => {
    const extraction = extractWith(outcomes);
    await expect(extraction.run()).rejects.toThrow(message);
    expect(extraction.tried).toHaveLength(attempts);
    expect(extraction.blocked()).toHaveLength(blocked);
  });

  it('makes no further attempt in the last second', async () => {
    const extraction = extractWith([bot, served]);
    await expect(extraction.run(0.9)).rejects.toThrow('bot');
    expect(extraction.tried).toHaveLength(1);
  });

  it('ends when its caller leaves', async () => {
    const leaving = new AbortController();
    const extraction = extractWith([
      bot,
      () => {
        leaving.abort();
        return new Error('left');
      },
    ]);
    await expect(extraction.run(20, leaving.signal)).rejects.toThrow('left');
  });

  it('stays with the address that a rule names', async () => {
    const extraction = extractWith([bot, served], { proxyRules: ['site.example=direct'] });
    await expect(extraction.run()).rejects.toThrow('bot');
    expect(extraction.tried).toEqual(['direct']);
  });
});

const origin = closeAfterwards(await startOrigin());

/** A process that resolves and streams, with the real yt-dlp, addresses of its own and the table that it shares. */
async function startHost(options: Partial<EgressOptions>, table = createMemoryState()) {
  const { ytDlp } = await installedTools();
  const egress = closeAfterwards(createEgress({ allow: [origin.host], ...options }));
  const resolver = closeAfterwards(
    createResolver({
      tools: { ytDlp: () => ytDlp },
      egress,
      state: table.state,
      pluginDirs: [PLUGIN_DIR],
      concurrency: 1,
    }),
  );
  const { openSource } = createSourceOpeners({ egress, refresh: resolver.refresh, latest: resolver.latest });
  return {
    egress,
    resolver,
    async resource(path: string): Promise<Resource> {
      const resolved = await resolver.resolve(origin.url(path), { deadline: Date.now() + 150_000 });
      if (resolved.type !== 'Media') throw new Error('Not one item');
      return resolved.resource;
    },
    /** Opens a track as a new stream does, with the resource of the table. */
    async open(id: string) {
      const resource = table.resources.get(id);
      const [track] = resource?.tracks ?? [];
      if (!resource || !track) throw new Error('Not stored');
      const source = await openSource(resource, track);
      source.close();
      return source.size;
    },
  };
}

const playerCalls = (path: string) => origin.requestsTo(`/site-api${path}`).length;

describe('a link of a site that blocks one of two addresses', () => {
  it.each(['bot', '429'])('is resolved by the other, and so are the next ones (%s)', async (block) => {
    const path = `/open/${block}`;
    const query = `?block=${block}&at=127.0.0.2`;
    const host = await startHost({ sourceAddresses: ADDRESSES });
    expect(await host.resource(`/site${path}${query}`)).toMatchObject({ egress: 'address-127.0.0.3' });
    expect(playerCalls(path)).toBe(2);
    for (const next of ['a', 'b'])
      expect(await host.resource(`/site${path}-${next}${query}`)).toMatchObject({ egress: 'address-127.0.0.3' });
    expect(playerCalls(path)).toBe(4);
    expect(host.egress.blockedAddresses()).toMatchObject([{ site: '127.0.0.1', address: '127.0.0.2' }]);
  });
});

describe('URLs that are bound to the address that resolved them', () => {
  it('stay beside those of other processes, each of which resolves once', async () => {
    const path = '/combined/bound';
    const table = createMemoryState();
    const api = await startHost({ sourceAddresses: ['127.0.0.2'] }, table);
    const [task, otherTask] = await Promise.all([
      startHost({ directIdentity: 'direct@task' }, table),
      startHost({ sourceAddresses: ['127.0.0.3'] }, table),
    ]);
    const { id } = await api.resource(`/site${path}?bound`);
    const stored = table.resources.get(id);
    // Not repeated: another address explains the refusal.
    const before = origin.requestsTo('/site-media/').length;
    await task.open(id);
    expect(origin.requestsTo('/site-media/').length - before).toBe(2);

    for (const host of [api, task, otherTask, task, otherTask, api]) expect(await host.open(id)).toBeGreaterThan(0);
    expect(playerCalls(path)).toBe(3);
    expect(table.resources.get(id)).toBe(stored);
  });

  it('are those of another address when the site refuses those of the present one twice', async () => {
    const path = '/combined/refused';
    const host = await startHost({ sourceAddresses: ADDRESSES });
    const { id, egress } = await host.resource(`/site${path}?bound&refuse=127.0.0.2`);
    expect(egress).toBe('address-127.0.0.2');
    expect(await host.open(id)).toBeGreaterThan(0);
    expect(playerCalls(path)).toBe(3);
    expect(await host.open(id)).toBeGreaterThan(0);
    expect(playerCalls(path)).toBe(3);
  });

  it('are those of another address once the site blocks theirs', async () => {
    const path = '/combined/moved';
    const host = await startHost({ sourceAddresses: ADDRESSES });
    const resource = await host.resource(`/site${path}?bound`);
    expect(resource.egress).toBe('address-127.0.0.2');
    host.egress.reportBlocked(resource.origin.url, resource.egress);
    const renewed = await host.resolver.refresh(resource);
    expect(renewed.egress).toBe('address-127.0.0.3');
    expect(await host.open(resource.id)).toBeGreaterThan(0);
    expect(playerCalls(path)).toBe(2);
  });
});
