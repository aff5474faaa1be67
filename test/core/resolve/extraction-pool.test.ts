import { describe, expect, it } from 'vitest';
import { InMaintenance } from '../../../core/errors/index.ts';
import { silentLog } from '../../../core/log/index.ts';
import { createExtractionPool, type ExtractionPoolOptions } from '../../../core/resolve/extraction-pool.ts';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';
import { asProblem } from '../../support/as-problem.ts';
import { fakeWorkers, fakeYtDlp } from './fake-workers.ts';

function createFixture(options: Partial<ExtractionPoolOptions> = {}) {
  const { start, ...fake } = fakeWorkers();
  const sessions = { open: 0, refused: false, bytes: 0 };
  const inPlace: { ytDlp: YtDlp | undefined } = { ytDlp: fakeYtDlp('1') };
  const pool = createExtractionPool({
    tools: { ytDlp: () => inPlace.ytDlp },
    start,
    egress: {
      openProxySession: async () => {
        sessions.open += 1;
        return {
          proxyUrl: 'http://u:p@127.0.0.1:1',
          isRefused: () => sessions.refused,
          bytesReceived: () => sessions.bytes,
          close: () => {
            sessions.open -= 1;
          },
        };
      },
    },
    concurrency: 1,
    queueLimit: 1,
    memoryBytes: 1,
    maxBytes: 1000,
    playlistLimit: 7,
    log: silentLog,
    ...options,
  });
  const ask = async (more: { url?: string; client?: string; signal?: AbortSignal; deadline?: number } = {}) => {
    const { info } = await pool.extract({
      url: 'https://media.example/',
      identity: 'direct',
      deadline: Date.now() + 10_000,
      signal: new AbortController().signal,
      ...more,
    });
    return info;
  };
  return { ask, pool, inPlace, sessions, ...fake };
}

const until = (condition: () => boolean | undefined | Promise<boolean>) =>
  expect.poll(condition, { interval: 5 }).toBe(true);
const status = (status: number) => ({ details: { status } });

describe('createExtractionPool', () => {
  it('sends each request to one warm worker, through its own proxy session', async () => {
    const { ask, sessions, untilPending, answerNext, workers, pool } = createFixture();
    await pool.warm();
    const first = ask();
    expect((await untilPending())[0]?.request).toMatchObject({
      url: 'https://media.example/',
      flat: true,
      proxy: 'http://u:p@127.0.0.1:1',
      playlistLimit: 7,
    });
    expect(sessions.open).toBe(1);
    await answerNext({ id: 'a' });
    expect(await first).toEqual({ id: 'a' });
    expect(sessions.open).toBe(0);
    expect(workers).toHaveLength(1);
  });

  it('fails with 503 while yt-dlp is fetched, and with 502 where it is not installed', async () => {
    const missing = { ytDlp: () => undefined };
    const fetching = { ...missing, inPlace: () => Promise.reject(new InMaintenance('Fetching yt-dlp')) };
    await expect(asProblem(createFixture({ tools: fetching }).ask())).rejects.toMatchObject(status(503));
    await expect(asProblem(createFixture({ tools: missing }).ask())).rejects.toMatchObject(status(502));
  });

  it('fails with 502 when the worker crashes, and restarts it', async () => {
    const { ask, sessions, untilPending, workers } = createFixture();
    const lost = ask();
    await untilPending();
    workers[0]?.crash();
    await expect(asProblem(lost)).rejects.toMatchObject(status(502));
    await until(() => workers.length === 2);
    const next = ask();
    (await untilPending(1, 1)).shift()?.answer({ id: 'b' });
    expect(await next).toEqual({ id: 'b' });
    expect(sessions.open).toBe(0);
  });

  it('backs off after a second worker that fails to start', async () => {
    let starts = 0;
    const { ask } = createFixture({
      start: async () => {
        starts += 1;
        throw new Error('not executable');
      },
    });
    await expect(asProblem(ask())).rejects.toMatchObject(status(502));
    await expect(asProblem(ask())).rejects.toMatchObject(status(502));
    expect(starts).toBe(2);
  });

  it('backs off after a worker that exits repeatedly without an answer', async () => {
    const { pool, workers } = createFixture();
    await pool.warm();
    workers[0]?.crash();
    await until(() => workers.length === 2);
    await pool.warm();
    workers[1]?.crash();
    await until(() =>
      pool.warm().then(
        () => false,
        () => true,
      ),
    );
    expect(workers).toHaveLength(2);
  });

  it('switches to a newer yt-dlp while the old worker answers its open requests', async () => {
    const { ask, inPlace, untilPending, workers } = createFixture({ concurrency: 2 });
    const old = ask();
    await untilPending();
    inPlace.ytDlp = fakeYtDlp('2');
    const fresh = ask({ client: 'b' });
    await untilPending(1, 1);
    expect(workers.map(({ options }) => options.ytDlp.version)).toEqual(['1', '2']);
    expect(workers[0]?.closed).toBe(false);
    workers[0]?.pending.shift()?.answer({ id: 'old' });
    workers[1]?.pending.shift()?.answer({ id: 'new' });
    expect(await Promise.all([old, fresh])).toEqual([{ id: 'old' }, { id: 'new' }]);
    await until(() => workers[0]?.closed);
    expect(workers[1]?.closed).toBe(false);
  });

  it('fails with 503 when the queue is full', async () => {
    const { ask, answerNext } = createFixture();
    const results = [ask(), ask()];
    await expect(asProblem(ask())).rejects.toMatchObject(status(503));
    for (const one of results) {
      await answerNext({});
      await one;
    }
  });

  it('cancels the request when its caller leaves', async () => {
    const { ask, sessions, untilPending, workers } = createFixture();
    const leaving = new AbortController();
    const left = ask({ signal: leaving.signal });
    await untilPending();
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(workers[0]?.pending[0]?.signal?.aborted).toBe(true);
    expect(sessions.open).toBe(0);
  });

  it('fails with 502 at the deadline when the worker does not start', async () => {
    const { ask } = createFixture({ start: () => new Promise(() => undefined) });
    await expect(asProblem(ask({ deadline: Date.now() + 50 }))).rejects.toMatchObject(status(502));
  });

  it('fails with 502 at the deadline when no fork is free', async () => {
    const { ask, workers } = createFixture();
    const leaving = new AbortController();
    const slow = ask({ signal: leaving.signal });
    await expect(asProblem(ask({ deadline: Date.now() + 50 }))).rejects.toMatchObject(status(502));
    leaving.abort();
    await expect(slow).rejects.toThrow();
    expect(workers[0]?.pending).toHaveLength(1);
  });

  it('interrupts and requeues a request of a client that holds most forks when another client waits for its share', async () => {
    const { ask, sessions, untilPending, workers } = createFixture({ concurrency: 4, queueLimit: 9 });
    const slow = [1, 2, 3, 4].map((page) => ask({ url: `https://slow.example/${page}`, client: 'a' }));
    await untilPending(3);
    // Its first request is served at once, by the fork that no client can hold in addition to all others.
    const first = ask({ url: 'https://other.example/first', client: 'b' });
    await untilPending(4);
    const other = ask({ url: 'https://other.example/', client: 'b' });
    await untilPending(5);
    const pending = workers[0]?.pending ?? [];
    const of = (path: string) => pending.filter(({ request }) => request.url.endsWith(path));
    expect(pending.map(({ signal }) => signal?.aborted)).toEqual([false, false, true, false, false]);
    expect(pending.map(({ request }) => request.niceness)).toEqual([0, 5, 10, 0, 5]);
    of('other.example/')[0]?.answer({ id: 'other' });
    expect(await other).toEqual({ id: 'other' });
    await until(() => of('/3').length + of('/4').length === 2);
    for (const one of pending) one.answer({ id: one.request.url });
    await first;
    await until(() => of('/3').length + of('/4').length === 3);
    for (const one of pending) one.answer({ id: one.request.url });
    expect(await Promise.all(slow)).toMatchObject([
      {},
      {},
      { id: 'https://slow.example/3' },
      { id: 'https://slow.example/4' },
    ]);
    expect(sessions.open).toBe(0);
  });

  it('fails with 502 when the worker ignores the deadline', async () => {
    const { ask } = createFixture();
    await expect(asProblem(ask({ deadline: Date.now() - 1 }))).rejects.toMatchObject(status(502));
  });

  it.each([
    ['a refused address is a 404, like a name that does not exist', { refused: true }, 'network' as const, 404],
    ['a refusal is not the cause of an unsupported link', { refused: true }, 'unsupported' as const, 415],
    ['too many bytes are a 415', { bytes: 1000 }, 'unsupported' as const, 415],
  ])('takes the cause from the proxy: %s', async (_, session, kind, expected) => {
    const { ask, sessions, untilPending } = createFixture();
    Object.assign(sessions, session);
    const result = ask();
    (await untilPending())[0]?.fail({ kind });
    await expect(asProblem(result)).rejects.toMatchObject(status(expected));
  });

  it('closes the worker, then fails with 502', async () => {
    const { ask, pool, workers } = createFixture();
    await pool.warm();
    await pool.close();
    expect(workers[0]?.closed).toBe(true);
    await expect(asProblem(ask())).rejects.toMatchObject(status(502));
    expect(workers).toHaveLength(1);
  });
});
