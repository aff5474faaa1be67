import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { startWorker, type WorkerProcess } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { descendantsOf } from '../support/processes.ts';
import { startYtDlpFixture, until } from './yt-dlp-fixture.ts';

const fixture = await startYtDlpFixture();
const { options, requestOf, temporary } = fixture;
const MARKER = 'reelay-left-behind';
const PROGRAM = fileURLToPath(new URL('./hostile-program.ts', import.meta.url));
const LANDLOCK_WITH_SCOPES = 6;
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** The yt-dlp that a user can run: Python may be in the home of another one, and the tools of the tests are the installer's. */
function ytDlpFor(uid: number): YtDlp | undefined {
  const [python, ...args] = options.ytDlp.command;
  const tagOf = (program: string, user?: number) =>
    spawnSync(program, ['-I', '-c', 'import sys; print(sys.implementation.cache_tag)'], { cwd: '/', uid: user }).stdout;
  const tag = tagOf(python);
  const program = [python, '/usr/bin/python3'].find((candidate) => tag.equals(tagOf(candidate, uid) ?? Buffer.of()));
  if (isRoot) chmodSync(dirname(dirname(args.at(-1) ?? '')), 0o755);
  return program === undefined ? undefined : { ...options.ytDlp, command: [program, ...args] };
}

/** What a hostile extractor has done as this user, and what is left of the files and the process of the service. */
async function attemptAs(uid: number, mode: string, ytDlp: YtDlp) {
  const dir = await mkdtemp(join(temporary, 'user-'));
  await chown(dir, uid, uid);
  await chmod(temporary, 0o711);
  const given = { options: { ...options, ytDlp }, request: requestOf(''), marker: MARKER };
  const child = spawn(process.execPath, [PROGRAM, mode, JSON.stringify(given)], {
    uid,
    gid: uid,
    cwd: '/',
    env: { TMPDIR: dir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  await rm(dir, { recursive: true });
  return JSON.parse(output);
}

const DONE = [
  'write a temporary file',
  'write into the cache',
  'execute the JavaScript runtime',
  'run an event loop',
  'connect to the proxy',
  'leave processes behind',
];

/** Version of the kernel's interface; a process per link does not say. */
let landlock = 0;

describe.runIf(process.platform === 'linux').each([
  ['a fork of the worker', 'worker', []],
  ['a process per link', 'process', ['write into its home']],
] as const)('%s with a hostile extractor', (_, mode, alsoDone) => {
  it.for([
    ['root', 0],
    ['an ordinary user', isRoot ? NOBODY : (process.getuid?.() ?? NOBODY)],
  ] as const)(
    'keeps to its files, its proxy and its processes as %s',
    { timeout: 60_000 },
    async ([, uid], { skip }) => {
      skip(uid === 0 && !isRoot, 'the tests do not run as root');
      const ytDlp = ytDlpFor(uid);
      if (!ytDlp) return skip('that user has no Python of this version');
      const { outcomes, after, sandbox } = await attemptAs(uid, mode, ytDlp);
      landlock = sandbox?.landlock ?? landlock;
      skip(landlock < LANDLOCK_WITH_SCOPES, 'the kernel lacks a part of Landlock');
      const done = Object.keys(outcomes).filter((name) => outcomes[name] === 'done');
      expect(done.sort()).toEqual([...DONE, ...alsoDone].sort());
      const refusals = new Set(Object.values(outcomes).filter((outcome) => outcome !== 'done'));
      expect([...refusals].sort()).toEqual(['EACCES', 'ENOSYS', 'EPERM']);
      expect(after).toEqual({
        files: ['server.sock', 'state.db'],
        state: 'secret',
        mode: 0o600,
        isOld: false,
        priority: getPriority(),
      });
    },
  );

  it('leaves no process behind', () =>
    until(async () => (await descendantsOf(1)).every(({ command }) => !command.includes(MARKER))));
});

describe('a fork of the worker', () => {
  let worker: WorkerProcess;
  const stderr: string[] = [];
  beforeAll(async () => {
    worker = await startWorker({ ...options, onStderr: (line) => stderr.push(line) });
  });
  afterAll(() => worker.close());

  it('answers its own request alone, whatever it writes', async () => {
    const leaving = new AbortController();
    const victim = worker.request(requestOf('/site/sleep/victim'), leaving.signal);
    // One of a low priority is forked now, and so knows the request that waits.
    const forged = await worker.request(requestOf('reelay-forger:', { niceness: 1 }));
    expect(forged).toMatchObject({ ok: true, info: { title: 'forged', view_count: 1 } });
    leaving.abort();
    expect(await victim).toEqual({ ok: false, error: { kind: 'cancelled' } });
    expect(await worker.request(requestOf('/files/clip.mp4'))).toMatchObject({ ok: true, info: { id: 'clip' } });
  });

  it.each([10, 4000])('writes 60 lines of %i bytes to the log up to a limit, without waiting for it', async (bytes) => {
    stderr.length = 0;
    expect(await worker.request(requestOf(`reelay-talker:${bytes}`))).toMatchObject({ ok: true });
    await until(() => stderr.some((line) => line.endsWith('further lines are left out')));
    const said = stderr.filter((line) => line.startsWith('talker'));
    // Within two seconds.
    expect(said.length).toBeLessThanOrEqual(40);
    expect(said.join('\n').length).toBeLessThanOrEqual(64 * 1024);
  });

  it.each(['bytes', 'entries', 'levels', 'removed'])('ends with too many temporary files: %s', async (what) => {
    const error = { kind: 'too_large', message: 'Too many temporary files' };
    expect(await worker.request(requestOf(`reelay-keeper:${what}`))).toEqual({ ok: false, error });
  });

  it('leaves no temporary file behind', async () => {
    await worker.request(requestOf('reelay-keeper:'));
    const [home = ''] = await readdir(temporary);
    const folders = () => readdir(join(temporary, home, 'tmp'));
    // That of the fork ahead is empty.
    await until(async () => {
      const left = await Promise.all((await folders()).map((name) => readdir(join(temporary, home, 'tmp', name))));
      return left.flat().length === 0;
    });
  });
});
