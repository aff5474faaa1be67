import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { ownTurn } from '@reelay/concurrency';
import { confine, launchCommand, missingFrom, type Sandbox } from '@reelay/yt-dlp-worker';
import { memoryShares } from '../../core/config/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';

const MAX_OPEN_FILES = 256;
/** Processor time of one process: it converts days of audio. */
const MAX_CPU_SECONDS = 24 * 3600;
/** RLIMIT_CPU, FSIZE, CORE, NOFILE and DATA of Linux. */
const limits = (): string[] => [
  ...[`0,${MAX_CPU_SECONDS}`, '1,0', '4,0', `7,${MAX_OPEN_FILES}`],
  `2,${Math.floor(memoryShares().ffmpegBytes)}`,
];

/** A program and how it is started. */
interface Launch {
  /** Absent where nothing confines it. */
  readonly sandbox?: Sandbox;
  /** The beginning of the command line: ports and `--` follow. Empty where nothing confines it. */
  readonly launcher: readonly string[];
}

const START_TIMEOUT_MS = 10_000;
/** Errors that say nothing of the program. */
const WITHOUT_RESOURCES = new Set(['ENOMEM', 'EAGAIN', 'EMFILE', 'ENFILE']);

/** By path: the strictest sandbox of this system, or the strictest in which the program has been seen to start. */
const launches = new Map<string, Launch>();
const checks = new Map<string, Promise<void>>();

/**
 * The command that runs a program in a sandbox and under limits of the operating system: memory, processor time, open
 * files, no files written, no core dumps, no capabilities. It is killed when this process ends, and gains no privileges. The program
 * alone where the system has none of it, and where its path is not absolute.
 *
 * The number of processes is not limited: the kernel counts those of the whole user. The filter of system calls permits one.
 * @param ports of TCP that it may connect to, where the kernel restricts them
 */
export function sandboxCommand(path: string, ports: readonly number[] = []): readonly string[] {
  const launch = launches.get(path) ?? launchesOf(path).next().value;
  if (!launch || launch.launcher.length === 0) return [path];
  launches.set(path, launch);
  return [...launch.launcher, ...ports.map((port) => `ports=${port}`), '--', path];
}

/**
 * Finds the strictest sandbox in which a program starts, once, and logs what it lacks. One with libraries of its own, and one
 * that starts others (a script) or confines itself (a snap), may start in less than this system has.
 * @throws UpstreamError where this system cannot start any process now
 */
export async function checkSandbox(path: string, log?: Pick<Log, 'warn'>): Promise<Sandbox | undefined> {
  const check = checks.get(path) ?? findSandbox(path, log);
  checks.set(path, check);
  await check.catch((cause) => {
    // Nothing is known yet: the next one checks again.
    checks.delete(path);
    launches.delete(path);
    throw new UpstreamError('FFmpeg could not be started', { cause, reason: 'service-failed' });
  });
  return launches.get(path)?.sandbox;
}

async function findSandbox(path: string, log?: Pick<Log, 'warn'>): Promise<void> {
  for (const launch of launchesOf(path)) {
    await ownTurn();
    launches.set(path, launch);
    if (await starts(sandboxCommand(path))) break;
  }
  const missing = missingFrom('FFmpeg', launches.get(path)?.sandbox);
  if (missing.length > 0) log?.warn(missing.join('; '));
}

async function starts([program = '', ...args]: readonly string[]): Promise<boolean> {
  const limits = { timeout: START_TIMEOUT_MS, killSignal: 'SIGKILL' } as const;
  try {
    const [code] = await once(spawn(program, [...args, '-version'], { env: {}, stdio: 'ignore', ...limits }), 'exit');
    return code === 0;
  } catch (error) {
    if (WITHOUT_RESOURCES.has(String((error as NodeJS.ErrnoException).code))) throw error;
    return false; // it is not a program
  }
}

/** What this system has for a program, the strictest first. Each is tried out, for which this process waits some milliseconds. */
function* launchesOf(path: string): Generator<Launch, undefined> {
  if (isAbsolute(path) && existsSync(path)) {
    const program = realpathSync(path);
    const complete = confine('ffmpeg', { executable: [program], reachable: [path, program] });
    for (const missing of [{}, { paths: [] }, { filter: '' }, { paths: [], filter: '' }]) {
      const confinement = { ...complete, ...missing };
      const launcher = launchCommand({ ...confinement, limits: limits() });
      if (!launcher) break;
      const [perl = '', ...args] = launcher;
      const { status, stdout } = spawnSync(perl, args, { env: {}, stdio: ['ignore', 'pipe', 'ignore'] });
      if (status !== 0) continue;
      const { filter, paths } = confinement;
      yield { launcher, sandbox: { landlock: Number(stdout), seccomp: filter !== '', hasFiles: paths.length > 0 } };
    }
  }
  yield { launcher: [] };
}
