import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { YtDlp } from '../tools.ts';
import { readBoundedLines } from './bounded-lines.ts';
import { createWorkerClient, type WorkerClient } from './worker-client.ts';
import { createWorkerDirectory } from './worker-directory.ts';
import type { WorkerRequest, WorkerResponse } from './worker-protocol.ts';

export interface WorkerOptions {
  readonly ytDlp: YtDlp;
  /** Extra plugin folders: only tests load any. */
  readonly pluginDirs?: readonly string[];
  /** Forks at once. */
  readonly concurrency: number;
  /** Bytes of address space a fork may take. */
  readonly memoryBytes: number;
  /** Netscape cookies file of the operator. */
  readonly cookiesFile?: string;
  /** Ends the worker, starting or started. */
  readonly signal?: AbortSignal;
  readonly onStderr?: (line: string) => void;
}

/** yt-dlp running as a warm worker: forks per request, speaks JSON lines. */
export interface WorkerProcess {
  /** Settles with the answer; a dead worker answers `crash`. Aborting kills the fork and answers `cancelled`. */
  request(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerResponse>;
  /** Settles when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends it and every fork. */
  close(): Promise<void>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const PLUGIN_DIR = fileURLToPath(new URL('plugins', import.meta.url));
/** Milliseconds until it must be warm: a first start on a cold disk compiles yt-dlp, which takes seconds. */
const START_TIMEOUT = 60_000;
/** Milliseconds it has to end its forks and itself before it is killed; the forks end with it either way. */
const CLOSE_TIMEOUT = 2_000;
/** Milliseconds after its end in which its last lines are read. */
const LINGER = 500;
/** The worker answers with 32 MiB at most, an id before it. */
const MAX_ANSWER_BYTES = 33 * 2 ** 20;
const MAX_STDERR_LINE_BYTES = 4_096;

/**
 * Starts a worker and waits until it is ready.
 * @throws when it does not become ready, with the last line it wrote
 */
export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const { signal, onStderr = () => undefined } = options;
  signal?.throwIfAborted();
  const home = await createWorkerDirectory();
  const child = spawnWorker(options, home);
  const conversation = createWorkerClient((line) => child.stdin.write(line));
  let lastWords = 'it said nothing';
  listen(child, conversation, (line) => {
    lastWords = line;
    onStderr(line);
  });
  const ended = endOf(child).then(async (spawnError) => {
    lastWords = spawnError?.message ?? lastWords;
    conversation.fail();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    await rm(home, { recursive: true, force: true, maxRetries: 3 }).catch((error) => onStderr(String(error)));
  });

  const close = async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT);
    await ended;
    clearTimeout(timer);
  };
  const kill = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', kill, { once: true });
  void ended.then(() => signal?.removeEventListener('abort', kill));

  const startTimer = setTimeout(kill, START_TIMEOUT);
  const isReady = await Promise.race([conversation.ready.then(() => true), ended.then(() => false)]);
  clearTimeout(startTimer);
  signal?.throwIfAborted();
  if (!isReady) throw new Error(`yt-dlp ended before it was ready: ${lastWords}`);
  return { request: conversation.send, ended, close };
}

function spawnWorker(options: WorkerOptions, home: string): Child {
  const [program, ...before] = options.ytDlp.command;
  return spawn(program, [...before, ...flagsOf(options, home)], {
    cwd: home,
    // Nothing of ours: no credentials, no proxies, nothing that Node or Python would load.
    env: { PATH: '/nonexistent', HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C at the terminal reaches the service, which then ends this in its order.
    detached: true,
  });
}

function flagsOf({ concurrency, memoryBytes, cookiesFile, pluginDirs = [] }: WorkerOptions, home: string): string[] {
  return [
    ...['--quiet', '--ignore-config', '--no-update', '--abort-on-error', '--color', 'never'],
    ...['--no-plugin-dirs', ...[PLUGIN_DIR, ...pluginDirs].flatMap((dir) => ['--plugin-dirs', dir])],
    ...['--cache-dir', join(home, 'cache'), '--no-remote-components'],
    ...['--no-js-runtimes', '--js-runtimes', `node:${process.execPath}`],
    // Nobody listens there: a request that does not bring its own proxy reaches nothing.
    ...['--proxy', 'http://127.0.0.1:9'],
    ...['--socket-timeout', '10', '--retries', '1', '--extractor-retries', '1'],
    ...['--flat-playlist', '--no-playlist', '--no-check-formats', '--no-mark-watched', '--no-wait-for-video'],
    ...['--xff', 'never', '--default-search', 'error', '--format', 'bv*+ba/b/bv*/ba'],
    ...(cookiesFile ? ['--cookies', cookiesFile] : []),
    `reelay-worker:concurrency=${concurrency}&memory=${memoryBytes}`,
  ];
}

/** Settles when it is gone and its last lines are read; with the reason when it could not even be spawned. */
function endOf(child: Child): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', () => resolve(undefined));
    // A fork that outlives it for a moment keeps the streams open.
    child.once('exit', () => setTimeout(resolve, LINGER, undefined));
  });
}

function listen(child: Child, conversation: WorkerClient, onStderr: (line: string) => void): void {
  // A worker that is gone does not read; its end is told by `exit`.
  child.stdin.on('error', () => undefined);
  readBoundedLines(child.stdout, {
    maxBytes: MAX_ANSWER_BYTES,
    onLine: (line) => {
      if (!conversation.receive(line)) onStderr(`Not an answer: ${line.slice(0, 200)}`);
    },
    // It never writes such a line: it is no longer what was started.
    onTooLong: () => child.kill('SIGKILL'),
  });
  readBoundedLines(child.stderr, { maxBytes: MAX_STDERR_LINE_BYTES, onLine: onStderr, onTooLong: onStderr });
}
