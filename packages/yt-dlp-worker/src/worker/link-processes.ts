import { copyFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable, createSemaphore } from '@reelay/concurrency';
import { parsePythonJson } from '@reelay/seekable-media/values';
import { PLUGIN_DIR } from '@reelay/tools-layer';
import { endWithParent, killWhenStopped } from '../process/process-end.ts';
import { prepareHome } from './process-home.ts';
import { createWorkerDirectory, removeFolder, removeWorkerDirectory } from './worker-directory.ts';
import type { WorkerOptions, WorkerProcess } from './worker-process.ts';
import {
  createFailure,
  INTERRUPTED,
  MAX_PARSED_BYTES,
  type WorkerFailure,
  type WorkerRequest,
  type WorkerResponse,
} from './worker-protocol.ts';

/**
 * yt-dlp as one process per request, with the interface and the limits of the warm worker: for a version that the worker's
 * plugin does not fit. Each request starts a Python interpreter, which takes about a second more.
 */
export async function startLinkProcesses(options: WorkerOptions): Promise<WorkerProcess> {
  const { concurrency, signal: closed } = options;
  const dir = await createWorkerDirectory();
  const sandboxPlugin = await writeSandboxPlugin(join(dir, 'plugins'));
  const slots = createSemaphore({ permits: Math.max(1, concurrency) });
  const closing = new AbortController();
  const ended = Promise.withResolvers<void>();
  const running = new Set<Promise<unknown>>();

  const close = async () => {
    closing.abort();
    closed?.removeEventListener('abort', close);
    await Promise.allSettled(running);
    await removeWorkerDirectory(dir).catch(() => undefined);
    ended.resolve();
  };
  if (closed?.aborted) await close();
  else closed?.addEventListener('abort', close, { once: true });

  const run = async (request: Omit<WorkerRequest, 'id'>, signal: AbortSignal): Promise<WorkerResponse> => {
    const deadline = AbortSignal.timeout(Math.ceil(request.timeoutSeconds * 1000));
    const ending = AbortSignal.any([signal, deadline, closing.signal]);
    try {
      const { release } = await slots.acquire('', ending);
      const work = runYtDlp(request, { ...options, dir, sandboxPlugin, signal: ending }).finally(release);
      running.add(work);
      const remove = () => running.delete(work);
      work.then(remove, remove);
      // Settled at once when it is aborted: the process is killed meanwhile.
      const response = await abortable(work, ending);
      ending.throwIfAborted();
      return response;
    } catch (error) {
      if (signal.aborted) return createFailure('cancelled');
      if (closing.signal.aborted) return INTERRUPTED;
      return deadline.aborted ? createFailure('timeout', 'The deadline passed') : createFailure('crash', String(error));
    }
  };

  return {
    request: (request, signal = new AbortController().signal) => run(request, signal),
    ended: ended.promise,
    hasEnded: () => closing.signal.aborted,
    close,
  };
}

/** The response to a request, from what its process has printed. */
function responseOf(stdout: string, stderr: string, { proxy }: Pick<WorkerRequest, 'proxy'>): WorkerResponse {
  // This version of yt-dlp does not load the plugin.
  if (!stderr.includes(CONFINED) && stdout !== '') return createFailure('crash', 'yt-dlp ran without its limits');
  // As the worker answers. What was printed may not be JSON.
  if (stdout.length > MAX_PARSED_BYTES) return { ok: true, json: Buffer.from(`{"ok":true,"info":${stdout}}`) };
  const info = readInfo(stdout);
  if (info) return { ok: true, info };
  const failure = readFailure(stderr.replace(CONFINED, ''));
  // A message may contain the proxy URL, with the credentials of this request.
  return { ok: false, error: { ...failure, message: failure.message?.replaceAll(proxy, 'the proxy') } };
}

/** As MAX_MESSAGE_LENGTH of `_reelay_failures.py`. */
const MAX_MESSAGE_LENGTH = 600;

/** What the classifier of the worker has written to stderr about the first error: its kind is of the classes of exceptions. */
export function readFailure(stderr: string): WorkerFailure {
  const start = stderr.indexOf(FAILED);
  const [line = ''] = start < 0 ? [] : stderr.slice(start + FAILED.length).split('\n', 1);
  const described = parsePythonJson(line) as WorkerFailure | undefined;
  if (typeof described?.kind === 'string' && typeof described.message === 'string')
    return { ...described, message: described.message.slice(0, MAX_MESSAGE_LENGTH) };
  const message = stderr.slice(-MAX_MESSAGE_LENGTH).trimEnd().split('\n').at(-1);
  return { kind: 'crash', message: message || 'yt-dlp printed no info' };
}

/** @returns undefined when yt-dlp has printed no object: `null`, nothing, or something else */
function readInfo(stdout: string): Record<string, unknown> | undefined {
  return stdout.startsWith('{') ? (parsePythonJson(stdout) as Record<string, unknown> | undefined) : undefined;
}

interface RunOptions extends WorkerOptions {
  /** Folder of the folders of processes. */
  readonly dir: string;
  /** A plugin folder that limits and confines the process. */
  readonly sandboxPlugin: string;
  /** Kills the process. */
  readonly signal: AbortSignal;
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
async function runYtDlp(request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<WorkerResponse> {
  const home = await mkdtemp(join(options.dir, 'link-'));
  // The answer does not wait for it.
  return runIn(home, request, options).finally(() => void removeFolder(home).catch(() => undefined));
}

async function runIn(home: string, request: Omit<WorkerRequest, 'id'>, options: RunOptions): Promise<WorkerResponse> {
  const { ytDlp, signal, memoryBytes } = options;
  const { flags, env } = await prepareHome(home, {
    operator: { ...options, extractorArgs: extractorArgsOf(request, options) },
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
    if (code === 'ERR_STREAM_MAXBUFFER' || /maxBuffer/.test(originalMessage))
      return createFailure('too_large', 'The output is too large');
    if (endedBy === 'SIGKILL' && !signal.aborted) return INTERRUPTED;
    return responseOf(stdout, stderr, request);
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
  }
}

/** The last arguments of an extractor apply. */
function extractorArgsOf(
  { playerClient }: Omit<WorkerRequest, 'id'>,
  { extractorArgs = [] }: RunOptions,
): readonly string[] {
  if (playerClient === undefined) return extractorArgs;
  const own = extractorArgs.findLast((item) => item.startsWith('youtube:'));
  return [...extractorArgs, `${own ? `${own};` : 'youtube:'}player_client=${playerClient}`];
}

const flagsOf = ({ flat, playlistLimit, playlistOffset = 0, impersonate }: Omit<WorkerRequest, 'id'>): string[] => [
  ...['--dump-single-json', '--skip-download', flat ? '--flat-playlist' : '--no-flat-playlist'],
  ...['--playlist-items', `${playlistOffset + 1}:${playlistOffset + playlistLimit}`],
  ...(impersonate ? ['--impersonate', impersonate] : []),
  // A failed entry of a playlist becomes null.
  '--ignore-errors',
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

const EXTRACTORS = join('yt_dlp_plugins', 'extractor');
/** The modules of the worker that import nothing of yt-dlp, those without which one period of DASH would be taken for all, and that which classifies failures. */
const MODULES = ['limits', 'sandbox', 'bounds', 'live', 'periods', 'failures'].map((name) => `_reelay_${name}.py`);
/** What the plugin writes to stderr once it has confined its process: yt-dlp ignores plugins that it cannot load. */
const CONFINED = 'reelay: confined';
/** What the plugin writes in front of a failure, as JSON. */
const FAILED = 'reelay: failed ';
const CONFINE = `"""Limits and confines the process that loads it. Without that, the process ends."""
import json
import os
import sys
import traceback

try:  # no file of the folder can be read once it is confined
    from ._reelay_live import complete_manifests
    from ._reelay_periods import join_periods
    complete_manifests()
    join_periods()
    from ._reelay_failures import report_failures
    report_failures('${FAILED}')
except Exception:
    traceback.print_exc()

try:
    from ._reelay_limits import die_with_parent, limit_memory, limit_usage
    from ._reelay_sandbox import Sandbox
    path = os.path.join(os.environ['HOME'], 'sandbox.json')
    with open(path, encoding='utf-8') as file:
        limits = json.load(file)['limits']
    die_with_parent()
    limit_memory(limits['memoryBytes'])
    limit_usage(limits['cpuSeconds'])
    sandbox = Sandbox(path)
    sandbox.confine(sandbox.temporary)
    print('${CONFINED}', file=sys.stderr, flush=True)
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)
`;

/**
 * Writes a plugin that limits and confines the process that loads it, as a fork of the worker: for versions that do not run
 * the worker. It needs no program of the system.
 */
async function writeSandboxPlugin(dir: string): Promise<string> {
  const folder = join(dir, 'reelay_sandbox', EXTRACTORS);
  await mkdir(folder, { recursive: true });
  for (const name of MODULES) await copyFile(join(PLUGIN_DIR, 'reelay', EXTRACTORS, name), join(folder, name));
  await writeFile(join(folder, 'reelay_sandbox.py'), CONFINE);
  return dir;
}
