import { afterAll, describe, expect, it } from 'vitest';
import { startYtDlp } from '../../../core/tools/runner/start-yt-dlp.ts';
import type { YtDlp, YtDlpMode } from '../../../core/tools/tools.ts';
import { startWorker, WorkerKilled, type WorkerProcess } from '../../../core/tools/worker/worker-process.ts';
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

const open: WorkerProcess[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

async function start(options: Partial<Parameters<typeof startYtDlp>[0]>) {
  const modes: (readonly [YtDlpMode, string?])[] = [];
  const running = await startYtDlp({
    ytDlp: ytDlpOf(WORKS),
    concurrency: 1,
    memoryBytes: 2 ** 29,
    onMode: (...mode) => modes.push(mode),
    ...options,
  });
  open.push(running);
  return { running, modes, request: () => running.request(REQUEST) };
}
const startWith = (fake: ReturnType<typeof fakeWarm>, script = WORKS) =>
  start({ startWarm: async () => fake.worker, ytDlp: ytDlpOf(script) });

describe('startYtDlp', () => {
  it('uses processes when the worker does not start', async () => {
    const { request, modes } = await start({ startWarm: startWorker });
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['process-per-link', expect.stringMatching(/ended before it was ready/)]]);
  });

  it('fails when yt-dlp does not run at all', async () => {
    const missing = { ...ytDlpOf(''), command: ['/nonexistent/yt-dlp'] as const };
    await expect(start({ startWarm: startWorker, ytDlp: missing })).rejects.toThrow(/ENOENT/);
    await expect(start({ startWarm: startWorker, ytDlp: ytDlpOf('exit 1') })).rejects.toThrow(/before it was ready/);
  });

  it('fails when something else kills the worker, or the signal aborts', async () => {
    const killed = async () => Promise.reject(new WorkerKilled('killed'));
    await expect(start({ startWarm: killed })).rejects.toThrow(WorkerKilled);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(start({ startWarm: startWorker, signal })).rejects.toThrow('stopped');
  });

  it('starts no worker for a version that the smoke test has accepted in the other mode', async () => {
    const ytDlp: YtDlp = { ...ytDlpOf(WORKS), mode: 'process-per-link' };
    const startWarm = () => Promise.reject(new Error('started'));
    const { request, modes } = await start({ ytDlp, startWarm });
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toMatchObject([['process-per-link', /smoke test/]]);
  });

  it('uses a worker that answers', async () => {
    const fake = fakeWarm(['http', 'bug', 'ok']);
    const { request, modes } = await startWith(fake);
    expect(await request()).toMatchObject({ error: { kind: 'http' } });
    // A worker that has answered once fits: a bug of one site is not repeated.
    expect(await request()).toMatchObject({ error: { kind: 'bug' } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it.each(['bug', 'crash'] as const)('replaces a worker that fails with %s where a process does not', async (kind) => {
    const fake = fakeWarm([kind]);
    const { request, modes, running } = await startWith(fake);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['worker'], ['process-per-link', `the worker failed with ${kind}`]]);
    expect(fake.state.hasEnded).toBe(true);
    expect(running.hasEnded()).toBe(false);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(fake.state.requests).toBe(1);
  });

  it('keeps a worker that fails as a process does', async () => {
    const fake = fakeWarm(['bug', 'ok']);
    const { request, modes } = await startWith(fake, FAILS);
    expect(await request()).toMatchObject({ error: { kind: 'expected', message: 'gone' } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('keeps a worker whose fork something else has killed', async () => {
    const fake = fakeWarm(['interrupted', 'ok']);
    const { request, modes } = await startWith(fake);
    expect(await request()).toMatchObject({ error: { isInterrupted: true } });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('replaces a worker that times out where a process answers in the other half of the time', async () => {
    const fake = fakeWarm(['timeout']);
    const { running, modes } = await startWith(fake);
    const brief = { ...REQUEST, timeoutSeconds: 1 };
    expect(await running.request(brief)).toMatchObject({ error: { kind: 'timeout' } });
    expect(modes).toEqual([['worker']]);
    expect(await running.request(REQUEST)).toMatchObject(VIA_PROCESS);
    expect(modes.at(-1)).toEqual(['process-per-link', 'the worker failed with timeout']);
  });

  it('replaces a worker that exits before its first answer, but ends with one that was killed', async () => {
    const exiting = fakeWarm(['ok']);
    const first = await startWith(exiting);
    exiting.end();
    await expect.poll(() => first.modes.length).toBe(2);
    expect(await first.request()).toMatchObject(VIA_PROCESS);
    expect(first.running.hasEnded()).toBe(false);

    const killed = fakeWarm(['ok']);
    const second = await startWith(killed);
    killed.end(true);
    await second.running.ended;
    expect(second.running.hasEnded()).toBe(true);
    expect(second.modes).toEqual([['worker']]);
  });

  it('ends with a worker that exits after its first answer', async () => {
    const fake = fakeWarm(['ok']);
    const { request, running, modes } = await startWith(fake);
    await request();
    fake.end();
    await running.ended;
    expect(modes).toEqual([['worker']]);
  });

  it('tries the worker again later', async () => {
    const fake = fakeWarm(['ok']);
    let starts = 0;
    const startWarm = async () => {
      starts += 1;
      if (starts < 3) throw new Error('not yet');
      return fake.worker;
    };
    const { request, modes } = await start({ startWarm, retryDelayMs: 1 });
    await expect.poll(() => modes.at(-1)).toEqual(['worker']);
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['process-per-link', 'not yet'], ['worker']]);
  });
});
