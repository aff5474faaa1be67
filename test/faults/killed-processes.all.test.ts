import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../core/egress/create-egress.ts';
import { createResolver } from '../../core/resolve/create-resolver.ts';
import type { Resolver } from '../../core/resolve/index.ts';
import type { OriginHandler } from '../origin/handler.ts';
import { type Origin, startOrigin } from '../origin/server.ts';
import { installedTools } from '../support/installed-tools.ts';
import { descendantsOf, isRunning, type ProcessRow } from '../support/processes.ts';
import { openTemporaryState } from '../support/temporary-state.ts';

/** The resolver with its real processes, each of which is killed or stopped at the worst moment. */

const SIGNALS = ['SIGKILL', 'SIGSTOP'] as const;

/** A page that waits with its first response until it is released, and answers further requests at once. */
class SlowPage {
  requests = 0;
  readonly arrived = Promise.withResolvers<void>();
  readonly handler: OriginHandler = async ({ response, url }) => {
    this.requests += 1;
    this.arrived.resolve();
    if (this.requests === 1) return new Promise((settle) => response.once('close', () => settle()));
    response.writeHead(302, { location: `/files/clip.mp4${url.search}` }).end();
  };
}

const pages = new Map<string, SlowPage>();
const slow: OriginHandler = (exchange) => {
  const page = pages.get(exchange.path);
  if (!page) throw new Error('No such page');
  return page.handler(exchange);
};

let origin: Origin;
let table: Awaited<ReturnType<typeof openTemporaryState>>;
let egress: ReturnType<typeof createEgress>;
const { ytDlp } = await installedTools();
beforeAll(async () => {
  origin = await startOrigin({ mounts: { '/slow/': slow } });
  table = await openTemporaryState();
  egress = createEgress({ allow: [origin.host] });
  resolver = create();
});
afterAll(async () => {
  await resolver.close();
  expect(await processes('')).toEqual([]);
  await egress.close();
  await table.close();
  await origin.close();
});

/** Shared by the tests: each leaves it with a running worker. */
let resolver: Resolver;
const create = (): Resolver =>
  createResolver({
    tools: { ytDlp: () => ytDlp },
    egress,
    state: table.state,
    concurrency: 2,
    pluginDirs: [resolve(import.meta.dirname, '../origin/plugin')],
  });

/** Ids of the children whose command line contains a text, once every child that has ended is reaped. */
async function processes(command: string): Promise<ProcessRow[]> {
  const rows = await vi.waitFor(
    async () => {
      const all: readonly ProcessRow[] = await descendantsOf(process.pid);
      expect(all.filter((row) => row.command.includes('<defunct>'))).toEqual([]);
      return all;
    },
    { timeout: 60_000, interval: 20 },
  );
  return rows.filter((row) => /python|yt_dlp|parsing-worker/.test(row.command) && row.command.includes(command));
}
const workers = async () => {
  const rows = await processes('reelay-worker:');
  const isWorker = ({ parent }: ProcessRow) => parent === process.pid;
  return { worker: rows.find(isWorker)?.pid, forks: rows.filter((row) => !isWorker(row)).map(({ pid }) => pid) };
};
const resolveLink = (path: string) =>
  resolver.resolve(origin.url(path), { deadline: Date.now() + 100_000, client: 'client' });
/** Resolves a page of its own until it waits. */
async function resolveSlowly(name: string, signal?: AbortSignal) {
  const page = new SlowPage();
  pages.set(name, page);
  const options = { deadline: Date.now() + 100_000, client: 'client', ...(signal && { signal }) };
  const resolving = resolver.resolve(origin.url(`/slow/${name}`), options);
  await page.arrived.promise;
  const { worker, forks } = await workers();
  expect(forks).not.toEqual([]);
  return { resolving, worker: worker ?? expect.fail('No worker'), forks };
}
/**
 * Signals the fork that resolves, and those beside it: one of an earlier link that is ending, which may have ended meanwhile,
 * and one that waits for the next request.
 */
function signalForks(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' });
    }
  }
}
const hasEnded = (pid: number) => expect.poll(() => isRunning(pid)).toBe(false);
const media = { type: 'Media', resource: { tracks: [{ container: 'mp4', durationSeconds: expect.any(Number) }] } };

describe.skipIf(process.platform !== 'linux').each(SIGNALS)('after %s', (signal) => {
  it('of the worker while it warms up, the next link resolves', async () => {
    await resolver.close();
    resolver = create();
    const warming = resolver.warm();
    await expect.poll(async () => (await workers()).worker, { interval: 20 }).toBeDefined();
    const worker = (await workers()).worker ?? expect.fail('No worker');
    process.kill(worker, signal);
    expect(await resolveLink(`/files/clip.mp4?warming-${signal}`)).toMatchObject(media);
    await warming;
    await hasEnded(worker);
  });

  it('of the worker while it resolves, the link is resolved by another one', async () => {
    const { resolving, worker, forks } = await resolveSlowly(`worker-${signal}`);
    process.kill(worker, signal);
    expect(await resolving).toMatchObject(media);
    for (const pid of [worker, ...forks]) await hasEnded(pid);
  });

  it('of a fork, the link is resolved by another one', async () => {
    const { resolving, worker, forks } = await resolveSlowly(`fork-${signal}`);
    signalForks(forks, signal);
    expect(await resolving).toMatchObject(media);
    for (const fork of forks) await hasEnded(fork);
    expect((await workers()).worker).toBe(worker);
  });

  it('of the probe, a file keeps its facts', async () => {
    await resolveLink(`/files/clip.mp4?before-${signal}`);
    const probe = (await processes('parsing-worker'))[0]?.pid ?? expect.fail('No probe');
    process.kill(probe, signal);
    expect(await resolveLink(`/files/clip.mp4?after-${signal}`)).toMatchObject(media);
    await hasEnded(probe);
  });
});

describe.skipIf(process.platform !== 'linux')('a stopped fork', () => {
  it('ends with its worker', async () => {
    const { resolving, worker, forks } = await resolveSlowly('both');
    signalForks(forks, 'SIGSTOP');
    process.kill(worker, 'SIGKILL');
    expect(await resolving).toMatchObject(media);
    for (const fork of forks) await hasEnded(fork);
  });
});

describe('a link that its client no longer waits for', () => {
  it('leaves no process at work', async () => {
    const leaving = new AbortController();
    const { resolving, forks } = await resolveSlowly('left', leaving.signal);
    leaving.abort(new Error('The client has left'));
    await expect(resolving).rejects.toThrow('The client has left');
    // One that waits for the next request may have been there already, or be there by now.
    const stay = async () => (await workers()).forks.filter((pid) => forks.includes(pid)).length;
    await expect.poll(stay).toBeLessThan(forks.length);
    await expect.poll(async () => (await workers()).forks.length).toBeLessThanOrEqual(1);
  });
});
