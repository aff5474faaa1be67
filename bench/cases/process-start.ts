import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { prepareHome } from '../../packages/yt-dlp-worker/src/worker/process-home.ts';
import { checkSandbox, sandboxCommand } from '../../stream-service/ffmpeg/sandbox.ts';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { StandaloneCase } from '../bench.ts';
import { seconds } from '../figures.ts';

const RUNS = 100;
const MAX_ADDED_MS = 5;
const PLUGIN = resolve(import.meta.dirname, '../../layers/tools/plugins/reelay/yt_dlp_plugins/extractor');
/** Milliseconds that a fork takes to confine itself: the median. */
const CONFINE = `
import os, sys, time
sys.path.insert(0, sys.argv[1])
from _reelay_sandbox import Sandbox, available
sandbox = Sandbox(os.path.join(sys.argv[2], 'sandbox.json'))
available()
durations = []
for _ in range(${RUNS}):
    reader, writer = os.pipe()
    if os.fork() == 0:
        begun = time.perf_counter()
        sandbox.confine(sandbox.temporary, 8080)
        os.write(writer, str((time.perf_counter() - begun) * 1000).encode())
        os._exit(0)
    os.wait()
    durations.append(float(os.read(reader, 100)))
print(sorted(durations)[len(durations) // 2])`;

const run = async (program = '', args: readonly string[] = []) => {
  await once(spawn(program, args, { env: {}, stdio: 'ignore' }), 'exit');
};

/** What the sandbox adds to the start of each process. The sandbox is the strictest of this machine. */
export const processStart: StandaloneCase = async function* () {
  const figure = (what: string, ours: number) => ({ what, ours, unit: 'ms' });
  const added = async (what: string, ours: () => Promise<void>, before: () => Promise<void>) => {
    // The fastest of each, in turn: other work of the machine only makes a start slower.
    const fastest = { ours: Number.POSITIVE_INFINITY, before: Number.POSITIVE_INFINITY };
    for (let count = 0; count < RUNS; count += 1) {
      fastest.before = Math.min(fastest.before, await seconds(before));
      fastest.ours = Math.min(fastest.ours, await seconds(ours));
    }
    return { ...figure(what, (fastest.ours - fastest.before) * 1000), atMost: MAX_ADDED_MS };
  };

  const { path } = (await installedTools()).ffmpeg;
  const { landlock = 0, seccomp = false } = (await checkSandbox(path)) ?? {};
  const [program, ...args] = sandboxCommand(path, [8080]);
  yield await added(
    `start of FFmpeg: sandbox and limits (Landlock ${landlock}, seccomp ${seccomp ? 'yes' : 'no'})`,
    () => run(program, [...args, '-version']),
    () => run(path, ['-version']),
  );
  yield await added(
    'start of Node: permissions',
    () => run(process.execPath, ['--permission', '-e', '0']),
    () => run(process.execPath, ['-e', '0']),
  );

  const home = await mkdtemp(join(tmpdir(), 'reelay-sandbox-bench-'));
  try {
    const dirs = { ownPlugins: home, temporaryDir: join(home, 'tmp') };
    await prepareHome(home, { operator: {}, ...dirs });
    const { stdout } = await promisify(execFile)('python3', ['-c', CONFINE, PLUGIN, home]);
    yield { ...figure('fork of yt-dlp: sandbox', Number(stdout)), atMost: MAX_ADDED_MS };
  } finally {
    await rm(home, { recursive: true });
  }
};
