import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endWithParent, killWhenStopped } from '../process/index.ts';
import type { YtDlp } from '../tools.ts';
import {
  CONFINED,
  extractionFlags,
  type OperatorOptions,
  type WorkerRequest,
  writeCertificates,
  writeConfig,
  writeCookies,
  writeSandbox,
} from '../worker/index.ts';

export interface RunOptions {
  readonly ytDlp: YtDlp;
  /** Address space. */
  readonly memoryBytes: number;
  readonly pluginDirs: readonly string[];
  readonly operator: OperatorOptions;
  /** For the cache, and for the folder of this process. */
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
  /** Why it could not be started. */
  readonly spawnError?: string;
}

/** Of stdout and of stderr each: as MAX_RESPONSE_BYTES of `_reelay_resolve.py`. */
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

/** Runs yt-dlp for one request, in a process group of its own, and waits until all of it has ended. Never rejects. */
export async function runYtDlp(request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<RunResult> {
  const home = await mkdtemp(join(options.dir, 'link-'));
  try {
    return await runIn(home, request, options);
  } catch (error) {
    return {
      stdout: '',
      stderr: '',
      isTooLarge: false,
      wasKilled: false,
      isConfined: false,
      spawnError: String(error),
    };
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function runIn(home: string, request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<RunResult> {
  const { ytDlp, signal } = options;
  const flags = await prepareFlags(home, request, options);
  const certificates = await writeCertificates(home, options.operator);
  // The plugin does the same, but only once it is loaded.
  const [program = '', ...args] = [...endWithParent(), ...ytDlp.command];
  // Loaded on first use: a worker that fits needs none of it.
  const { create } = await import('yt-dlp-exec');
  signal.throwIfAborted();
  const child = create(program).exec([...args, ...flags] as never, undefined, {
    cwd: home,
    // No variable of this process is passed on: no credentials, no proxies, none that Node or Python read.
    env: { PATH: '/nonexistent', HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...certificates },
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
    const isTooLarge = code === 'ERR_STREAM_MAXBUFFER' || /maxBuffer/.test(originalMessage);
    return {
      ...{ stdout, stderr: stderr.replace(CONFINED, ''), isTooLarge, isConfined: stderr.includes(CONFINED) },
      wasKilled: endedBy === 'SIGKILL' && !signal.aborted && !isTooLarge,
      ...(child.pid === undefined && { spawnError: originalMessage }),
    };
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/**
 * The options on the command line. Other users of the machine see it: the link and the credentials of its proxy are in files
 * of the folder, which only this user can read.
 */
async function prepareFlags(
  home: string,
  { url, entry, proxy, timeoutSeconds, flat, playlistLimit, impersonate }: Omit<WorkerRequest, 'id'>,
  options: RunOptions,
): Promise<string[]> {
  const { dir, memoryBytes, sandboxPlugin, operator } = options;
  const jsRuntime = process.execPath;
  const cacheDir = join(dir, 'cache');
  await writeSandbox(home, {
    programs: [jsRuntime],
    pluginDirs: options.pluginDirs,
    extractorArgs: operator.extractorArgs,
    writable: [home, cacheDir],
    proxies: [proxy],
    limits: { memoryBytes, cpuSeconds: Math.ceil(timeoutSeconds + EXTRA_CPU_SECONDS) },
  });
  // A copy: yt-dlp writes the file when it ends.
  const cookiesFile = await writeCookies(home, operator);
  const config = await writeConfig(home, operator, [['--proxy', proxy]]);
  const target = join(home, 'target');
  // An entry by its list's metadata, and not by its URL alone: this keeps its title, duration and thumbnail.
  await writeFile(target, entry === undefined ? url.replaceAll(/[\r\n]/g, '') : JSON.stringify(entry));
  return [
    ...extractionFlags({
      cacheDir,
      pluginDirs: [sandboxPlugin, ...options.pluginDirs],
      jsRuntime,
      cookiesFile,
      hasExtraCa: operator.extraCaFile !== undefined,
    }),
    ...['--dump-single-json', '--skip-download', flat ? '--flat-playlist' : '--no-flat-playlist'],
    ...['--playlist-end', String(playlistLimit)],
    ...(impersonate ? ['--impersonate', impersonate] : []),
    // A failed entry of a playlist becomes null. Tracebacks of failures are written by `--verbose` alone.
    ...['--ignore-errors', '--verbose', ...config],
    ...(entry === undefined ? ['--batch-file', target] : ['--no-clean-info-json', '--load-info-json', target]),
  ];
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
