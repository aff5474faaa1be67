import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createExtractor, type ExtractorOptions } from '../../../core/resolve/yt-dlp/extractor.ts';
import type { YtDlp } from '../../../layers/tools/tools.ts';
import { fakeWorkers } from './fake-workers.ts';

const ytDlp = (version: string): YtDlp => ({ version, command: ['yt-dlp', version], source: 'release' });

function setUp(options: Partial<ExtractorOptions> = {}) {
  const { workers, start } = fakeWorkers();
  const leases = { open: 0, refused: false, bytes: 0 };
  const inPlace: { ytDlp: YtDlp | undefined } = { ytDlp: ytDlp('1') };
  const resolver = createExtractor({
    tools: { ytDlp: () => inPlace.ytDlp },
    start,
    egress: {
      openProxySession: async () => {
        leases.open += 1;
        return {
          proxyUrl: 'http://u:p@127.0.0.1:1',
          refused: () => leases.refused,
          bytesReceived: () => leases.bytes,
          close: () => {
            leases.open -= 1;
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
  const ask = (more: { url?: string; signal?: AbortSignal; deadline?: number } = {}) =>
    resolver.extract({
      url: 'https://media.example/',
      identity: 'direct',
      deadline: Date.now() + 10_000,
      signal: new AbortController().signal,
      ...more,
    });
  return { ask, inPlace, leases, resolver, workers };
}

const until = (condition: () => boolean | undefined) =>
  expect.poll(condition, { interval: 5, timeout: 10_000 }).toBe(true);
const status = (status: number) => ({ details: { status } });

describe('the resolver', () => {
  it('asks one warm worker, each time through a lease of its own', async () => {
    const { ask, leases, workers, resolver } = setUp();
    await resolver.warm();
    const first = ask();
    await until(() => workers[0]?.questions.length === 1);
    expect(workers[0]?.questions[0]?.request).toMatchObject({
      url: 'https://media.example/',
      flat: true,
      proxy: 'http://u:p@127.0.0.1:1',
      playlistLimit: 7,
    });
    expect(leases.open).toBe(1);
    workers[0]?.questions.shift()?.answer({ id: 'a' });
    expect(await first).toEqual({ id: 'a' });
    expect(leases.open).toBe(0);
    expect(workers).toHaveLength(1);
  });

  it('answers 503 while yt-dlp is not there', async () => {
    const { ask, inPlace } = setUp();
    inPlace.ytDlp = undefined;
    await expect(ask()).rejects.toMatchObject(status(503));
  });

  it('answers 502 to who asked a worker that died, and has a new one ready', async () => {
    const { ask, leases, workers } = setUp();
    const lost = ask();
    await until(() => workers[0]?.questions.length === 1);
    workers[0]?.crash();
    await expect(lost).rejects.toMatchObject(status(502));
    await until(() => workers.length === 2);
    const next = ask();
    await until(() => workers[1]?.questions.length === 1);
    workers[1]?.questions.shift()?.answer({ id: 'b' });
    expect(await next).toEqual({ id: 'b' });
    expect(leases.open).toBe(0);
  });

  it('does not try one that does not start again and again', async () => {
    let starts = 0;
    const { ask } = setUp({
      start: async () => {
        starts += 1;
        throw new Error('not executable');
      },
    });
    await expect(ask()).rejects.toMatchObject(status(502));
    await expect(ask()).rejects.toMatchObject(status(502));
    expect(starts).toBe(1);
  });

  it('does not keep starting one that dies before it answers', async () => {
    const { resolver, workers } = setUp();
    await resolver.warm();
    workers[0]?.crash();
    await until(() => workers.length === 2);
    await resolver.warm();
    workers[1]?.crash();
    await expect
      .poll(() =>
        resolver.warm().then(
          () => 'warm',
          () => 'backing off',
        ),
      )
      .toBe('backing off');
    expect(workers).toHaveLength(2);
  });

  it('changes to a newer yt-dlp while the old one answers what it was asked', async () => {
    const { ask, inPlace, workers } = setUp({ concurrency: 2 });
    const old = ask();
    await until(() => workers[0]?.questions.length === 1);
    inPlace.ytDlp = ytDlp('2');
    const fresh = ask();
    await until(() => workers[1]?.questions.length === 1);
    expect(workers.map(({ options }) => options.ytDlp.version)).toEqual(['1', '2']);
    expect(workers[0]?.closed).toBe(false);
    workers[0]?.questions.shift()?.answer({ id: 'old' });
    workers[1]?.questions.shift()?.answer({ id: 'new' });
    expect(await Promise.all([old, fresh])).toEqual([{ id: 'old' }, { id: 'new' }]);
    await until(() => workers[0]?.closed);
    expect(workers[1]?.closed).toBe(false);
  });

  it('answers 503 when too many ask at once', async () => {
    const { ask, workers } = setUp();
    const asked = [ask(), ask()];
    await expect(ask()).rejects.toMatchObject(status(503));
    for (const one of asked) {
      await until(() => workers[0]?.questions.length === 1);
      workers[0]?.questions.shift()?.answer({});
      await one;
    }
  });

  it('cancels what its caller no longer waits for', async () => {
    const { ask, leases, workers } = setUp();
    const leaving = new AbortController();
    const left = ask({ signal: leaving.signal });
    await until(() => workers[0]?.questions.length === 1);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(workers[0]?.questions[0]?.signal?.aborted).toBe(true);
    expect(leases.open).toBe(0);
  });

  it('waits no longer than the deadline for a worker that does not come up', async () => {
    const { ask } = setUp({ start: () => new Promise(() => undefined) });
    await expect(ask({ deadline: Date.now() + 50 })).rejects.toMatchObject(status(502));
  });

  it('waits no longer than the deadline for a fork', async () => {
    const { ask, workers } = setUp();
    const leaving = new AbortController();
    const slow = ask({ signal: leaving.signal });
    await expect(ask({ deadline: Date.now() + 50 })).rejects.toMatchObject(status(502));
    leaving.abort();
    await expect(slow).rejects.toThrow();
    expect(workers[0]?.questions).toHaveLength(1);
  });

  it('gives a link of another site a fork while the pages of one never end, and starts what it took it from again', async () => {
    const { ask, leases, workers } = setUp({ concurrency: 4, queueLimit: 9 });
    const slow = [1, 2, 3, 4].map((page) => ask({ url: `https://slow.example/${page}` }));
    await until(() => workers[0]?.questions.length === 4);
    const honest = ask({ url: 'https://honest.example/' });
    await until(() => workers[0]?.questions.length === 5);
    const questions = workers[0]?.questions ?? [];
    const of = (path: string) => questions.filter(({ request }) => request.url.endsWith(path));
    expect(questions.map(({ signal }) => signal?.aborted)).toEqual([false, false, false, true, false]);
    of('honest.example/')[0]?.answer({ id: 'honest' });
    expect(await honest).toEqual({ id: 'honest' });
    await until(() => of('/4').length === 2);
    for (const question of questions) question.answer({ id: question.request.url });
    expect(await Promise.all(slow)).toMatchObject([{}, {}, {}, { id: 'https://slow.example/4' }]);
    expect(leases.open).toBe(0);
  });

  it('waits for no worker that forgets the deadline', async () => {
    const { ask } = setUp();
    await expect(ask({ deadline: Date.now() - 1 })).rejects.toMatchObject(status(502));
  });

  it.each([
    ['an address inside looks like a name that does not exist', { refused: true }, 'network' as const, 404],
    ['a refusal does not explain a 404 of the site', { refused: true }, 'unsupported' as const, 415],
    ['too many bytes are a failure', { bytes: 1000 }, 'unsupported' as const, 502],
  ])('knows from the proxy why: %s', async (_, lease, kind, expected) => {
    const { ask, leases, workers } = setUp();
    Object.assign(leases, lease);
    const asked = ask();
    await until(() => workers[0]?.questions.length === 1);
    workers[0]?.questions[0]?.fail({ kind });
    await expect(asked).rejects.toMatchObject(status(expected));
  });

  it('ends the worker when it closes, and answers no more', async () => {
    const { ask, resolver, workers } = setUp();
    await resolver.warm();
    await resolver.close();
    expect(workers[0]?.closed).toBe(true);
    await expect(ask()).rejects.toMatchObject(status(502));
    expect(workers).toHaveLength(1);
  });
});
