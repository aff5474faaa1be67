import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { NotFound, UpstreamError } from '../../../core/errors/errors.ts';
import { silentLog } from '../../../core/log/log.ts';
import type { SiteOutcomes } from '../../../core/state/site-outcomes.ts';
import { recordSites } from '../../../lambdas/middleware/resolve-metrics.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_800_000_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

const LINK = 'https://www.media.example/watch';
const NOW = 1_800_000_000;

function create() {
  const table = { outcomes: {} as SiteOutcomes, reads: 0, failure: undefined as Error | undefined };
  const links = { failure: undefined as Error | undefined };
  const resolve = recordSites({
    resolve: async () => {
      if (links.failure) throw links.failure;
      return { type: 'Media' } as never;
    },
    state: {
      async getSiteOutcomes() {
        table.reads += 1;
        if (table.failure) throw table.failure;
        return table.outcomes;
      },
      putSiteOutcomes: async (outcomes) => void Object.assign(table, { outcomes }),
    },
    log: silentLog,
  });
  return { table, links, resolve: () => resolve(LINK, { deadline: Date.now() + 1_000 }) };
}

it('records the sites that resolve, without a further read for five minutes', async () => {
  const { table, resolve } = create();
  await resolve();
  expect(table.outcomes).toEqual({ 'media.example': { resolvedAt: NOW } });
  await resolve();
  expect(table.reads).toBe(1);
  vi.setSystemTime((NOW + 300) * 1000);
  await resolve();
  expect(table.outcomes).toEqual({ 'media.example': { resolvedAt: NOW + 300 } });
});

it('records the failures that the alarm counts, and the success after them', async () => {
  const { table, links, resolve } = create();
  await resolve();
  links.failure = new NotFound();
  await expect(resolve()).rejects.toBe(links.failure);
  expect(table.outcomes).toEqual({ 'media.example': { resolvedAt: NOW } });
  links.failure = new UpstreamError();
  await expect(resolve()).rejects.toBe(links.failure);
  expect(table.outcomes).toEqual({ 'media.example': { resolvedAt: NOW, failedAt: NOW } });
  links.failure = undefined;
  await resolve();
  expect(table.outcomes).toEqual({ 'media.example': { resolvedAt: NOW } });
});

it('answers as before while the table fails', async () => {
  const { table, links, resolve } = create();
  table.failure = new Error('unreachable');
  expect(await resolve()).toEqual({ type: 'Media' });
  links.failure = new UpstreamError();
  await expect(resolve()).rejects.toBe(links.failure);
});
