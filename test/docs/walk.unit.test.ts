import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UpstreamError } from '../../core/errors/index.ts';
import { silentLog } from '../../core/log/index.ts';
import { createResolver, type ResolverOptions } from '../../core/resolve/index.ts';
import { createState } from '../../core/state/index.ts';
import type { StateStorage } from '../../core/state/storage.ts';
import { createResolvingHandlers } from '../../lambdas/api/index.ts';
import { routeOperations } from '../../lambdas/http-handler.ts';
import { fakeWorkers, fakeYtDlp } from '../core/resolve/fake-workers.ts';
import { eventOf } from '../lambdas/fakes.ts';

const ROOT = join(import.meta.dirname, '../..');
const LINK = 'https://site.example/watch';
const TOOLS = { pk: 'tools', record: {} };
const ITEM = {
  id: '1',
  extractor_key: 'Site',
  title: 'Title',
  duration: 6,
  formats: [{ format_id: '1', url: `${LINK}.mp4`, ext: 'mp4', vcodec: 'avc1', acodec: 'mp4a.40.2', filesize: 100 }],
};

/** From the function of the operation on. */
const MAX_FRAMES = 16;
/** Of the middleware chain, which is not in the project, and of the function of a single flight, which waits for nothing itself. */
const UNSEEN_FRAMES = 3;

const { stackTraceLimit } = Error;
beforeEach(() => {
  Error.stackTraceLimit = 100;
});
afterEach(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** The files of the project whose functions wait for a call, outermost first. */
function frames(): string[] {
  const lines = String(new Error('Stack').stack).replaceAll('file://', '').replaceAll(`${ROOT}/`, '').split('\n');
  return lines.flatMap((line) => /[ (]((?:core|lambdas|packages)\/[\w./-]+\.ts):\d/.exec(line)?.[1] ?? []).reverse();
}

/** What GetResource of a new link calls last: yt-dlp, the source, and the table. */
async function walk(): Promise<Record<'yt-dlp' | 'source' | 'table', string[]>> {
  const found = { 'yt-dlp': [] as string[], source: [] as string[], table: [] as string[] };
  const { start } = fakeWorkers(() => {
    found['yt-dlp'] = frames();
    return ITEM;
  });
  const storage: Partial<StateStorage> = {
    get: async (pk) => (pk === 'tools' ? TOOLS : undefined),
    put: async ({ pk }) => {
      if (pk.startsWith('resource#')) found.table = frames();
    },
    addRequest: async () => undefined,
    requireSpace: async () => undefined,
  };
  const state = createState({ storage: storage as StateStorage });
  const egress: Partial<ResolverOptions['egress']> = {
    nextIdentity: () => 'direct',
    reportServed: () => undefined,
    openProxySession: async () => ({
      proxyUrl: 'http://127.0.0.1:9',
      isRefused: () => false,
      bytesReceived: () => 0,
      close: () => undefined,
    }),
    async request() {
      found.source = frames();
      throw new UpstreamError('No source');
    },
  };
  const resolver = createResolver({
    tools: { ytDlp: () => fakeYtDlp() },
    egress: egress as ResolverOptions['egress'],
    state,
    start,
  });
  const options = { resolver, state, log: silentLog, origins: [], version: '' };
  const handler = routeOperations(createResolvingHandlers(options), options);
  const event = eventOf(`/api/Fetch/GetResource?url=${encodeURIComponent(LINK)}`);
  expect(await handler(event, {} as never)).toMatchObject({ statusCode: 200 });
  await resolver.close();
  return found;
}

it('GetResource takes few frames, in the files of architecture.md in their order', async () => {
  const document = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, table = ''] = /## Resolving a link[\s\S]*?\n(\|[\s\S]*?)\n\n/.exec(document) ?? [];
  const documented = [...table.matchAll(/`([\w-]+\/[\w./-]+\.ts)`/g)].map(([, file = '']) => file);
  for (const [end, found] of Object.entries(await walk())) {
    expect(found.length, end).toBeGreaterThan(5);
    expect(found.length + UNSEEN_FRAMES, end).toBeLessThanOrEqual(MAX_FRAMES);
    const files = [...new Set(found)];
    expect.soft(files, end).toEqual(documented.filter((file) => files.includes(file)));
  }
});
