import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import { endWithParent, isStopped, killWhenStopped } from '../../../layers/tools/index.ts';
import { createFairSemaphore } from '../../concurrency/index.ts';
import type { ContainerRequest, ContainerResponse } from './container-reader.ts';

export interface ProbeProcessOptions {
  /** For one file. A large index takes some hundred milliseconds on a busy machine. @default 1500 */
  readonly timeoutMs?: number;
  /** Without a request for this long, the process ends. @default 60000 */
  readonly idleTimeoutMs?: number;
}

/** Reads containers in a separate process, which is started by the first request. */
export interface ProbeProcess {
  /**
   * Reads one file after the other.
   * @returns an empty response when reading takes too long or crashes the process
   * @throws Error when the process does not start
   */
  read(request: ContainerRequest): Promise<ContainerResponse>;
  close(): Promise<void>;
}

/** Next to this file, or to the bundle that contains it. */
const WORKER = fileURLToPath(new URL(`./probe-worker${extname(import.meta.filename)}`, import.meta.url));
const START_TIMEOUT_MS = 15_000;
/** The largest index that is read, 6 MB, takes half of it. */
const MAX_HEAP_MB = 128;
/** For a file whose process is killed from outside. */
const MAX_ATTEMPTS = 3;
const INTERRUPTED = Symbol('killed or stopped from outside');

/** The process was killed or stopped from outside, not by the limits of this file. */
class Interrupted extends Error {}

/**
 * A hostile file of a few bytes may cause an endless loop or exhaust the memory. A worker thread does not isolate that: when
 * an array outgrows the heap of a thread, V8 ends the whole process.
 */
export function createProbeProcess({
  timeoutMs = 1500,
  idleTimeoutMs = 60_000,
}: ProbeProcessOptions = {}): ProbeProcess {
  // One file at a time: a timeout then belongs to that file.
  const limit = pLimit(1);
  let child: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  const close = async (): Promise<void> => {
    clearTimeout(idleTimer);
    const closing = child;
    child = undefined;
    await (closing && end(closing));
  };

  const ensureStarted = async (): Promise<ChildProcess> => {
    if (child) return child;
    const started = start();
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    const answer = await nextMessage(started, START_TIMEOUT_MS);
    if (answer === INTERRUPTED) throw new Interrupted('The process that reads containers was killed');
    if (answer !== 'ready') throw new Error('The process that reads containers failed to start');
    child = started;
    return started;
  };

  const readNow = async (request: ContainerRequest): Promise<ContainerResponse> => {
    clearTimeout(idleTimer);
    const reader = await ensureStarted();
    reader.send(request);
    const answer = await nextMessage(reader, timeoutMs);
    idleTimer = setTimeout(close, idleTimeoutMs).unref();
    if (answer === INTERRUPTED) throw new Interrupted('The process that reads containers was killed');
    return (answer as ContainerResponse | undefined) ?? {};
  };

  /** Repeats a read whose process was killed from outside: that says nothing about the file. */
  const readWithRetries = async (request: ContainerRequest): Promise<ContainerResponse> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await readNow(request);
      } catch (error) {
        if (!(error instanceof Interrupted) || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  };

  return { read: (request) => limit(readWithRetries, request), close };
}

function start(): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  const [command = process.execPath, ...wrapped] = [...endWithParent(), process.execPath];
  const child = fork(WORKER, {
    // Structured clone: buffers are not converted to JSON.
    serialization: 'advanced',
    execPath: command,
    execArgv: [...wrapped, ...process.execArgv, `--max-old-space-size=${MAX_HEAP_MB}`],
    // No credentials, and no Node.js options.
    env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {},
    // Its output may repeat parts of a hostile file, which must not reach a terminal.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Its own process group: Ctrl-C in a terminal must only reach the service, which still answers requests then.
    detached: true,
  });
  // The child alone must not keep this process alive.
  child.unref();
  child.channel?.unref();
  killWhenStopped(child);
  // A failure to spawn or to send is noticed by the missing response.
  return child.on('error', () => undefined);
}

/**
 * The next message; undefined when the child exits first, or is killed after `timeoutMs`; INTERRUPTED when it was killed
 * or stopped from outside.
 */
async function nextMessage(
  child: ChildProcess,
  timeoutMs: number,
): Promise<Serializable | typeof INTERRUPTED | undefined> {
  const { promise, resolve } = Promise.withResolvers<Serializable | typeof INTERRUPTED | undefined>();
  let wasStopped = false;
  // It was gone when the message was sent.
  const onError = () => resolve(INTERRUPTED);
  const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
    resolve(signal === 'SIGKILL' && (wasStopped || !child.killed) ? INTERRUPTED : undefined);
  const onTimeout = () => {
    wasStopped = isStopped(child.pid);
    void end(child);
  };
  const timer = setTimeout(onTimeout, timeoutMs);
  child.once('message', resolve).once('exit', onExit).once('error', onError);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', resolve).off('exit', onExit).off('error', onError);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.kill('SIGKILL');
  await ended;
}

/** Processes that read containers, shared fairly between clients. */
export interface ProbePool {
  /**
   * Waits for a process, round-robin by client.
   * @returns as `ProbeProcess.read`; an empty response when the signal is aborted already
   * @throws the signal's reason when it is aborted in the queue: nothing is known about the file then
   */
  read(request: ContainerRequest, client: string, signal: AbortSignal): Promise<ContainerResponse>;
  close(): Promise<void>;
}

/**
 * One client uses one process at most: a hundred hostile files of one client, each of which takes its process for the full
 * time limit, delay a file of another client by none of them. The second process runs only while two clients probe.
 */
const PROCESSES = 2;

export function createProbePool(createProcess: () => ProbeProcess = createProbeProcess): ProbePool {
  const processes = Array.from({ length: PROCESSES }, () => createProcess());
  const free = [...processes];
  const permits = createFairSemaphore({ permits: PROCESSES, maxPerTenant: 1 });

  return {
    async read(request, client, signal) {
      if (signal.aborted) return {};
      const permit = await permits.acquire(client, signal);
      const process = free.shift();
      try {
        return (await process?.read(request)) ?? {};
      } finally {
        // To the front: the one that runs is used again before the other one starts.
        if (process) free.unshift(process);
        permit.release();
      }
    },
    async close() {
      await Promise.all(processes.map((process) => process.close()));
    },
  };
}
