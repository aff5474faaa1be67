import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSupervisor, type Supervisor, type SupervisorOptions, startYtDlp } from '../src/supervisor.ts';
import { silentLog, type YtDlp, type YtDlpMode } from '../src/tools.ts';
import { WorkerKilled, type WorkerProcess } from '../src/worker/worker-process.ts';
import type { WorkerFailureKind } from '../src/worker/worker-protocol.ts';

/** A program that prints the info of an item whatever its arguments, and a version. */
const WORKS =
  'case "$*" in *--version*) echo 2026.01.01;; *) echo "reelay: confined" >&2; echo \'{"id":"from a process"}\';; esac';
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
  const state = { requests: 0, hasEnded: false };
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
    async close() {
      end();
    },
  };
  const end = () => {
    state.hasEnded = true;
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
    concurrency: 1,
    memoryBytes: 2 ** 29,
    log: { ...silentLog, warn: log as typeof silentLog.warn },
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
    supervisor.request({ ...REQUEST, ...more }, new AbortController().signal);
  return { supervisor, modes, request, starts: () => starts };
}
const startWith = (fake: ReturnType<typeof fakeWarm>) => createFixture({ workers: [async () => fake.worker] });

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
      message: 'yt-dlp failed to start',
      cause: { message: expect.stringMatching(reason) },
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
      workers: [],
    });
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(await request()).toMatchObject(VIA_PROCESS);
    expect(modes).toEqual([['process-per-link', expect.stringMatching(/smoke test/)]]);
    expect(starts()).toBe(0);
  });

  it.each(['bug', 'crash', 'timeout', 'interrupted'] as const)('keeps a worker that fails with %s', async (kind) => {
    const { request, modes } = startWith(fakeWarm([kind, 'ok']));
    expect(await request()).toMatchObject({ ok: false });
    expect(await request()).toMatchObject(VIA_WORKER);
    expect(modes).toEqual([['worker']]);
  });

  it('starts another worker once it is renewed, and ends the former one after its open requests', async () => {
    const [former, next] = [fakeWarm(['ok']), fakeWarm(['ok'])];
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: WorkerProcess = {
      ...former.worker,
      async request(...args) {
        asked.resolve();
        await answered.promise;
        return former.worker.request(...args);
      },
    };
    const fixture = createFixture({ workers: [async () => slow, async () => next.worker] });
    fixture.supervisor.renew();
    expect(fixture.starts()).toBe(0);
    const running = fixture.request();
    await asked.promise;
    fixture.supervisor.renew();
    await fixture.request();
    expect(former.state.hasEnded).toBe(false);
    answered.resolve();
    expect(await running).toMatchObject(VIA_WORKER);
    await former.worker.ended;
    expect([former.state.requests, next.state.requests, fixture.starts()]).toEqual([1, 1, 2]);
  });
});

describe('startYtDlp', () => {
  it('leaves no process and no folder when it is aborted before its program runs', async () => {
    const leaving = new AbortController();
    const temporary = await mkdtemp(join(tmpdir(), 'aborted-start-'));
    onTestFinished(() => rm(temporary, { recursive: true }));
    const file = join(temporary, 'pid');
    const ytDlp = ytDlpOf(`echo $$ >${file}; echo '{"ready":true}'; read -r line`);
    vi.stubEnv('TMPDIR', temporary);
    const starting = startYtDlp('worker', { ytDlp, concurrency: 1, memoryBytes: 2 ** 29, signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(starting).rejects.toThrow('left');
    const pid = Number(await readFile(file, 'utf8').catch(() => ''));
    expect([pid > 0 && isRunning(pid), (await readdir(temporary)).filter((name) => name !== 'pid')]).toEqual([
      false,
      [],
    ]);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
