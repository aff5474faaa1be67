import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { PLUGIN_DIR } from '@reelay/tools-layer';
import { killWhenStopped } from '../process/process-end.ts';
import type { Sandbox } from '../process/sandbox.ts';
import type { KnownSites, YtDlp } from '../tools.ts';
import { type OperatorOptions, prepareHome } from './process-home.ts';
import { createWorkerClient, readBoundedLines, type WorkerClient } from './worker-client.ts';
import { createWorkerDirectory, removeFolder, removeWorkerDirectory } from './worker-directory.ts';
import type { WorkerRequest, WorkerResponse } from './worker-protocol.ts';

export interface WorkerOptions extends OperatorOptions {
  readonly ytDlp: YtDlp;
  /** Maximum number of forks. */
  readonly concurrency: number;
  /** Address space of one fork. */
  readonly memoryBytes: number;
  /** Kills the worker, also while it starts. */
  readonly signal?: AbortSignal;
  readonly onStderr?: (line: string) => void;
}

/** yt-dlp as a warm worker process: one fork per request, JSON lines on stdin and stdout. */
export interface WorkerProcess {
  /**
   * Never rejects: with a worker that has exited it settles as `crash`, and an abort kills the fork and settles as
   * `cancelled`.
   */
  request(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerResponse>;
  /** What confines its forks; absent where nothing does, or where that is not known. */
  readonly sandbox?: Sandbox | undefined;
  /** What its extractors read; absent where that is not known. */
  readonly sites?: KnownSites | undefined;
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>;
  /** Whether the process has ended, or is about to be reported so by `ended`. */
  hasEnded(): boolean;
  /** Ends the worker and its forks, and removes their files. */
  close(): Promise<void>;
}

/** The worker was killed from outside, not by its limits: another attempt may succeed. */
export class WorkerKilled extends Error {
  override readonly name = 'WorkerKilled';
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** A first start on a cold disk compiles yt-dlp, which takes seconds. */
const START_TIMEOUT_MS = 60_000;
/** Time to end itself and its forks before it is killed. Its forks end with it in both cases. */
const CLOSE_TIMEOUT_MS = 2_000;
/** A worker that does not answer four pings is stuck: it is killed within five seconds. */
const PING_INTERVAL_MS = 1_000;
const MAX_UNANSWERED_PINGS = 3;
/** Time to read its last lines after its exit. */
const DRAIN_TIMEOUT_MS = 500;
/** The worker limits a response to 16 MiB (MAX_RESPONSE_BYTES of _reelay_resolve.py). */
const MAX_RESPONSE_LINE_BYTES = 17 * 2 ** 20;
const MAX_STDERR_LINE_BYTES = 4_096;

/**
 * Starts a worker and waits until it is ready.
 * @throws WorkerKilled; Error with the last line of its stderr when it does not become ready
 */
export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const { signal, onStderr = () => undefined } = options;
  signal?.throwIfAborted();
  const directory = await createWorkerDirectory();
  const child = await spawnWorker(options, directory).catch(async (error) => {
    await removeWorkerDirectory(directory);
    throw error;
  });
  killWhenStopped(child);
  const remove = (removing: Promise<void>) => removing.catch((error) => onStderr(String(error)));
  const client = createWorkerClient(
    (line) => child.stdin.write(line),
    (name) => void remove(removeFolder(join(temporaryDirOf(directory), name))),
  );
  let lastLine = 'no output';
  listen(child, client, (line) => {
    lastLine = line;
    onStderr(line);
  });
  let isGone = false;
  const ended = endOf(child).then((spawnError) => {
    isGone = true;
    lastLine = spawnError?.message ?? lastLine;
    client.fail();
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  });
  // The next worker does not wait for it.
  const removed = ended.then(() => remove(removeWorkerDirectory(directory)));

  const close = async () => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
    await removed;
  };
  const kill = () => child.kill('SIGKILL');
  // A worker that serves ends its forks itself, and collects their exit statuses.
  let stop: () => void = kill;
  const onAbort = () => stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  void ended.then(() => signal?.removeEventListener('abort', onAbort));

  const startTimer = setTimeout(kill, START_TIMEOUT_MS);
  const greeting = await Promise.race([client.ready, ended]);
  clearTimeout(startTimer);
  stop = () => void close();
  if (!greeting || signal?.aborted) await removed;
  signal?.throwIfAborted();
  if (!greeting)
    throw child.signalCode !== null && !child.killed
      ? new WorkerKilled(`yt-dlp was killed before it was ready: ${child.signalCode}`)
      : new Error(`yt-dlp ended before it was ready: ${lastLine}`);
  // Counted in pings rather than in time: while this process was suspended or busy, it read no answers either.
  const watchdog = setInterval(() => {
    if (client.ping() > MAX_UNANSWERED_PINGS) kill();
  }, PING_INTERVAL_MS).unref();
  void ended.then(() => clearInterval(watchdog));
  return {
    request: client.send,
    sandbox: greeting.sandbox ?? undefined,
    sites: greeting.sites,
    ended,
    hasEnded: () => isGone,
    close,
  };
}

const temporaryDirOf = (directory: string): string => join(directory, 'tmp');

async function spawnWorker(options: WorkerOptions, directory: string): Promise<Child> {
  // Forks read the home folder, and not the temporary files of each other.
  const home = join(directory, 'home');
  await mkdir(home);
  const { flags, env } = await prepareHome(home, {
    operator: options,
    command: options.ytDlp.command,
    ownPlugins: PLUGIN_DIR,
    temporaryDir: temporaryDirOf(directory),
  });
  options.signal?.throwIfAborted();
  const [program, ...before] = options.ytDlp.command;
  const args = [
    ...[...before, ...flags, '--abort-on-error'],
    // Nothing listens there: a request without its own proxy cannot connect.
    ...['--proxy', 'http://127.0.0.1:9'],
    `reelay-worker:concurrency=${options.concurrency}&memory=${options.memoryBytes}&node=${process.versions.node}`,
  ];
  return spawn(program, args, { cwd: home, env, stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Resolves when the process is gone and its output is read; with an error when it could not be spawned. */
function endOf(child: Child): Promise<Error | undefined> {
  return new Promise((resolve) => {
    child.once('error', resolve);
    child.once('close', () => resolve(undefined));
    // A fork that ends a little later keeps the streams open.
    child.once('exit', () => setTimeout(resolve, DRAIN_TIMEOUT_MS, undefined));
  });
}

function listen(child: Child, client: WorkerClient, onStderr: (line: string) => void): void {
  // EPIPE when the worker is gone, which `exit` reports.
  child.stdin.on('error', () => undefined);
  readBoundedLines(child.stdout, {
    maxBytes: MAX_RESPONSE_LINE_BYTES,
    onLine: (line) => {
      if (!client.receive(line)) onStderr(`Not an answer: ${line.toString('utf8', 0, 200)}`);
    },
    // The worker never writes such a line: the process is not the worker any more.
    onTooLong: () => child.kill('SIGKILL'),
  });
  readBoundedLines(child.stderr, {
    maxBytes: MAX_STDERR_LINE_BYTES,
    onLine: (line) => onStderr(line.toString()),
    onTooLong: onStderr,
  });
}
