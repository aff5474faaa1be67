import { afterAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import {
  createSupervisor,
  type Supervisor,
  type SupervisorOptions,
  startYtDlp,
} from '../../../core/tools/supervisor.ts';
import type { YtDlp, YtDlpMode } from '../../../core/tools/tools.ts';
import { WorkerKilled, type WorkerProcess } from '../../../core/tools/worker/worker-process.ts';
import type { WorkerFailureKind } from '../../../core/tools/worker/worker-protocol.ts';

/** A program that prints the info of an item whatever its arguments, and a version. */
const WORKS =
  'case "$*" in *--version*) echo 2026.01.01;; *) echo "reelay: confined" >&2; echo \'{"id":"from a process"}\';; esac';
const FAILS = 'case "$*" in *--version*) echo 2026.01.01;; *) echo "ERROR: [A] 1: gone" >&2; exit 1;; esac';
const ytDlpOf = (script: string): YtDlp => ({ version: '1', command: ['/bin/sh', '-c', script, 'sh'], source: 'path' });
const REQUEST = {
  url: 'https://a.example/',
  timeoutSeconds: 20,
  proxy: 'http://127.0.0.1:9',
  flat: true,
  playlistLimit: 1,
};
const VIA_PROCESS = { ok: true, info: { id: 'from a process' } };
const VIA_WORKER = { ok: true, info: { id: 'from a worker' } };

type Answer = 'ok' | WorkerFailureKind | 'interrupted';

/** A warm worker that answers each request with the next of `answers`, and the last one again and again. */
function fakeWarm(answers: Answer[]) {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const state = { requests: 0, hasEnded: false, killed: false };
  const worker: WorkerProcess = {
    async request() {
      state.requests += 1;
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 'ok';
      if (answer === 'ok') return { id: '1', ok: true, info: { id: 'from a worker' } };
      if (answer === 'interrupted') return { id: '1', ok: false, error: { kind: 'crash', isInterrupted: true } };
      return { id: '1', ok: false, error: { kind: answer } };
    },
    ended,
    hasEnded: () => state.hasEnded,
    wasKilled: () => state.killed,
    async close() {
      end();
    },
  };
  const end = (killed = false) => {
    state.hasEnded = true;
    state.killed = killed;
    resolve();
  };
  return { worker, state, end };
}

const open: Supervisor[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

interface FixtureOptions extends Partial<SupervisorOptions> {
  readonly ytDlp?: YtDlp;
  /** How each warm worker starts, the last way for all further ones. @default as it does */
  readonly workers?: (() => Promise<WorkerProcess>)[];
}

function createFixture({ ytDlp = ytDlpOf(WORKS), workers, ...options }: FixtureOptions = {}) {
  const modes: (readonly [YtDlpMode, reason?: unknown])[] = [];
  const log = (_: string, { reason }: { reason?: unknown } = {}) => {
    if (reason !== undefined) modes.push(['process-per-link', reason]);
  };
  let starts = 0;
  const supervisor = createSupervisor({
    tools: { ytDlp: () => ytDlp },
    ...{ concurrency: 1, memoryBytes: 2 ** 29, log: { ...silentLog, warn: log as typeof silentLog.warn } },
    onYtDlpMode: (mode) => {
      if (mode === 'worker') modes.push([mode]);
    },
    start: (mode, startOptions) => {
      if (mode !== 'worker' || !workers) return startYtDlp(mode, startOptions);
      starts += 1;
      return (workers.length > 1 ? workers.shift() : workers[0])?.() ?? Promise.reject(new Error('no worker'));
    },
    ...options,
  });
  open.push(supervisor);
  const request = (more: Partial<typeof REQUEST> = {}) =>
    supervisor.use((send) => send({ ...REQUEST, ...more }), new AbortController().signal);
  return { supervisor, modes, request, starts: () => starts };
}
const startWith = (fake: ReturnType<typeof fakeWarm>, script = WORKS) =>
  createFixture({ workers: [async () => fake.worker], ytDlp: ytDlpOf(script) });

describe('createSupervisor', () => {
  it('uses processes when the worker does not start', async () => {
    const { request, modes } = createFixture();
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['process-per-link', expect.stringMatching(/ended before it was ready/)]]);
  });

  it.each([
    ['is missing', { ...ytDlpOf(''), command: ['/nonexistent/yt-dlp'] as const }, /ENOENT/],
    ['runs in no mode', ytDlpOf('exit 1'), /before it was ready/],
  ])('fails when yt-dlp %s', async (_, ytDlp, reason) => {
    const { supervisor } = createFixture({ ytDlp });
    await expect(supervisor.ready()).rejects.toMatchObject({
      ...{ message: 'yt-dlp failed to start', cause: { message: expect.stringMatching(reason) } },
    });
  });

  it('starts the worker again when something else has killed it while it started', async () => {
    const fake = fakeWarm(['ok']);
    const killed = () => Promise.reject(new WorkerKilled('killed'));
    const { request, modes } = createFixture({ workers: [killed, async () => fake.worker] });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('starts no worker for a version that the smoke test has accepted in the other mode', async () => {
    const { request, modes, starts } = createFixture({
      ytDlp: { ...ytDlpOf(WORKS), mode: 'process-per-link' },
      ...{ workers: [], workerRetryMs: 0 },
    });
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['process-per-link', expect.stringMatching(/smoke test/)]]);
    expect(starts()).toBe(0);
  });

  it('uses a worker that answers', async () => {
    const { request, modes } = startWith(fakeWarm(['http', 'bug', 'ok']));
    expect(await request()).toMatchObject({ error: { kind: 'http' } });
    // A worker that has answered once fits: a bug of one site is not repeated.
    expect(await request()).toMatchObject({ error: { kind: 'bug' } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it.each(['bug', 'crash'] as const)('replaces a worker that fails with %s where a process does not', async (kind) => {
    const fake = fakeWarm([kind]);
    const { request, modes } = startWith(fake);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['worker'], ['process-per-link', `the worker failed with ${kind}`]]);
    expect(fake.state.hasEnded).toBe(true);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(fake.state.requests).toBe(1);
  });

  it('starts another worker once it is renewed, and ends the former one after its open requests', async () => {
    const [former, next] = [fakeWarm(['ok']), fakeWarm(['ok'])];
    const fixture = createFixture({ workers: [async () => former.worker, async () => next.worker] });
    fixture.supervisor.renew();
    expect(fixture.starts()).toBe(0);
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    const running = fixture.supervisor.use(async (send) => {
      fixture.supervisor.renew();
      await fixture.request();
      expect(former.state.hasEnded).toBe(false);
      resolve();
      return send(REQUEST);
    }, new AbortController().signal);
    await answered;
    expect(await running).toMatchObject(VIA_WORKER);
    await former.worker.ended;
    expect([former.state.requests, next.state.requests, fixture.starts()]).toEqual([1, 1, 2]);
  });

  it('keeps a worker that fails as a process does', async () => {
    const { request, modes } = startWith(fakeWarm(['bug', 'ok']), FAILS);
    expect(await request()).toMatchObject({ error: { kind: 'expected', message: 'gone' } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('keeps a worker whose fork something else has killed', async () => {
    const { request, modes } = startWith(fakeWarm(['interrupted', 'ok']));
    expect(await request()).toMatchObject({ error: { isInterrupted: true } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('replaces a worker that times out where a process answers in the other half of the time', async () => {
    const { request, modes } = startWith(fakeWarm(['timeout']));
    expect(await request({ timeoutSeconds: 1 })).toMatchObject({ error: { kind: 'timeout' } });
    expect(modes).toEqual([['worker']]);
    // Half of it is no whole number of milliseconds.
    expect(await request({ timeoutSeconds: 20.001 })).toMatchObject(VIA_PROCESS);
    expect(modes.at(-1)).toEqual(['process-per-link', 'the worker failed with timeout']);
  });

  it('replaces a worker that exits before its first answer by processes', async () => {
    const fake = fakeWarm(['ok']);
    const { supervisor, request, modes } = startWith(fake);
    await supervisor.ready();
    fake.end();
    await expect.poll(() => modes.length).toBe(2);
    expect(await request()).toMatchObject(VIA_PROCESS);
  });

  it.each(['something else has killed', 'has exited after an answer'])('restarts a worker that %s', async (how) => {
    const [first, second] = [fakeWarm(['ok']), fakeWarm(['ok'])];
    const { supervisor, request, modes } = createFixture({
      workers: [async () => first.worker, async () => second.worker],
    });
    await supervisor.ready();
    if (how === 'has exited after an answer') await request();
    first.end(how === 'something else has killed');
    await expect.poll(() => modes).toEqual([['worker'], ['worker']]);
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(second.state.requests).toBe(1);
  });

  it('tries the worker again later', async () => {
    const fake = fakeWarm(['ok']);
    const fails = () => Promise.reject(new Error('not yet'));
    const { request, modes } = createFixture({ workers: [fails, fails, async () => fake.worker], workerRetryMs: 0 });
    expect(await request()).toMatchObject(VIA_PROCESS);
    await expect.poll(() => request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['process-per-link', 'not yet'], ['worker']]);
  });

  it('closes while processes of its own fail to start', async () => {
    const asked = Promise.withResolvers<void>();
    const processes = Promise.withResolvers<WorkerProcess>();
    const { worker, state } = fakeWarm(['bug']);
    const { supervisor, request } = createFixture({
      start: async (mode) => {
        if (mode === 'worker') return worker;
        asked.resolve();
        return processes.promise;
      },
    });
    const requested = expect(request()).rejects.toThrow('no process');
    await asked.promise;
    const closed = supervisor.close();
    processes.reject(new Error('no process'));
    await closed;
    await requested;
    expect(state.hasEnded).toBe(true);
  });
});
