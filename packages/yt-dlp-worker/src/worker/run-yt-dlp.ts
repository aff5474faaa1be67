import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endWithParent, killWhenStopped } from '../process/index.ts';
import { CONFINED, prepareHome } from './process-home.ts';
import { removeFolder } from './worker-directory.ts';
import type { WorkerOptions } from './worker-process.ts';
import type { WorkerRequest } from './worker-protocol.ts';

export interface RunOptions extends WorkerOptions {
  /** Folder of the folders of processes. */
  readonly dir: string;
  /** A plugin folder that limits and confines the process. */
  readonly sandboxPlugin: string;
  /** Kills the process. */
  readonly signal: AbortSignal;
}

/** How a process of yt-dlp has ended. */
export interface RunResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Its output exceeded the limit. */
  readonly isTooLarge: boolean;
  /** It was killed from outside, not by its limits or its signal. */
  readonly wasKilled: boolean;
  /** Its plugin has limited and confined it. */
  readonly isConfined: boolean;
}

/** Stdout and stderr may have this much each, as MAX_RESPONSE_BYTES of `_reelay_resolve.py`. */
const MAX_OUTPUT_BYTES = 16 * 2 ** 20;
/** Processor time beyond the deadline, after which the system kills a process that its parent has not killed. */
const EXTRA_CPU_SECONDS = 2;

/** The fields of an execa result that are read here; execa 5 is a dependency of yt-dlp-exec. */
interface ProcessResult {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly signal?: string;
  readonly code?: string;
  readonly originalMessage?: string;
}

/**
 * Runs yt-dlp for one request, in a process group of its own, and waits until all of it has ended.
 * @throws Error when it cannot be started
 */
export async function runYtDlp(request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<RunResult> {
  const home = await mkdtemp(join(options.dir, 'link-'));
  try {
    return await runIn(home, request, options);
  } finally {
    // The answer does not wait for it.
    void removeFolder(home).catch(() => undefined);
  }
}

async function runIn(home: string, request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<RunResult> {
  const { ytDlp, signal, memoryBytes } = options;
  const { flags, env } = await prepareHome(home, {
    operator: options,
    command: ytDlp.command,
    ownPlugins: options.sandboxPlugin,
    temporaryDir: home,
    proxy: request.proxy,
    limits: { memoryBytes, cpuSeconds: Math.ceil(request.timeoutSeconds + EXTRA_CPU_SECONDS) },
  });
  const target = await writeTarget(home, request);
  // The plugin does the same, but only once it is loaded.
  const [program = '', ...args] = [...endWithParent(), ...ytDlp.command, ...flags, ...flagsOf(request), ...target];
  // Loaded on first use: a worker that fits needs none of it.
  const { create } = await import('yt-dlp-exec');
  signal.throwIfAborted();
  const child = create(program).exec(args as never, undefined, {
    cwd: home,
    env,
    extendEnv: false,
    stdin: 'ignore',
    maxBuffer: MAX_OUTPUT_BYTES,
    // Its own process group, which is killed as a whole: yt-dlp may have started a JavaScript runtime.
    detached: true,
    reject: false,
  });
  killWhenStopped(child);
  const kill = () => killGroup(child.pid);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const { stdout = '', stderr = '', signal: endedBy, code, originalMessage = '' }: ProcessResult = await child;
    if (child.pid === undefined) throw new Error(originalMessage);
    const isTooLarge = code === 'ERR_STREAM_MAXBUFFER' || /maxBuffer/.test(originalMessage);
    return {
      stdout,
      stderr: stderr.replace(CONFINED, ''),
      isTooLarge,
      isConfined: stderr.includes(CONFINED),
      wasKilled: endedBy === 'SIGKILL' && !signal.aborted && !isTooLarge,
    };
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

const flagsOf = ({ flat, playlistLimit, impersonate }: Omit<WorkerRequest, 'id'>): string[] => [
  ...['--dump-single-json', '--skip-download', flat ? '--flat-playlist' : '--no-flat-playlist'],
  ...['--playlist-end', String(playlistLimit)],
  ...(impersonate ? ['--impersonate', impersonate] : []),
  // A failed entry of a playlist becomes null. Tracebacks of failures are written by `--verbose` alone.
  ...['--ignore-errors', '--verbose'],
];

/** Writes the link into a file, which other users of the machine do not see. @returns the options that read it */
async function writeTarget(home: string, { url, entry }: Omit<WorkerRequest, 'id'>): Promise<string[]> {
  const target = join(home, 'target');
  // An entry by its list's metadata, and not by its URL alone: this keeps its title, duration and thumbnail.
  await writeFile(target, entry === undefined ? url.replaceAll(/[\r\n]/g, '') : JSON.stringify(entry));
  return entry === undefined ? ['--batch-file', target] : ['--no-clean-info-json', '--load-info-json', target];
}

/** @param pid of the leader of the group; undefined when it could not be started */
function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}
