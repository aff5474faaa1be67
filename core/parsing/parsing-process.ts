import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuTimeMs, endWithParent, isStopped, killWhenStopped } from '@reelay/yt-dlp-worker';
import { ParsingLimitExceeded } from '../errors/index.ts';
import { splitRequest, type TaskRequest, type TaskResponse } from './task.ts';

export interface ParsingProcessOptions {
  /**
   * Processor time of one task, where the system tells it (Linux): a busy machine does not end a task early. Elsewhere
   * elapsed time. @default 1500
   */
  readonly timeoutMs?: number;
  /** Without a task for this long, the process ends. @default 60000 */
  readonly idleTimeoutMs?: number;
  /** The program, which calls `serveTasks`. @default the one with all tasks of the project */
  readonly program?: string;
}

/** A separate process for tasks, which is started by the first one. */
export interface ParsingProcess {
  /**
   * Runs a task. One at a time: the owner waits for the one before.
   * @throws ParsingLimitExceeded when it takes too long or too much memory, TimeoutError (DOMException) when it has not got
   *   enough processor time to tell; Error when the process does not start
   */
  run(request: TaskRequest): Promise<TaskResponse>;
  close(): Promise<void>;
}

/** Next to this file, or to the bundle that contains it. */
const PROGRAM = fileURLToPath(new URL(`./parsing-worker${extname(import.meta.filename)}`, import.meta.url));
/** What programs of the sources import. Not the whole folder of the project, which may contain the state and a `.env`. */
const SOURCES = ['core', 'packages', 'node_modules', 'package.json'];
/** It starts with low priority, which takes long beside other loads. */
const START_TIMEOUT_MS = 30_000;
/** The sample tables of ten hours of video take half of it. */
const MAX_HEAP_MB = 128;
/** The limit of elapsed time, in proportion to that of processor time. */
const MAX_WAIT_FACTOR = 20;
/** For a task whose process is killed from outside. */
const MAX_ATTEMPTS = 3;
/** Steps by which it is nicer than this process: streams go first. */
const NICENESS = 10;
const MAX_NICENESS = 19;
const INTERRUPTED = Symbol('killed or stopped from outside');
const TIMED_OUT = Symbol('killed before its limit of processor time');

/** How a process ended that has not responded; undefined: by its own fault. */
type Ending = typeof INTERRUPTED | typeof TIMED_OUT | undefined;

/** The process was killed or stopped from outside, not by the limits of this file. */
class Interrupted extends Error {}

/**
 * A hostile file of a few bytes may cause an endless loop or exhaust the memory. A worker thread does not isolate that: when
 * an array outgrows the heap of a thread, V8 ends the whole process.
 */
export function createParsingProcess({
  timeoutMs = 1500,
  idleTimeoutMs = 60_000,
  program = PROGRAM,
}: ParsingProcessOptions = {}): ParsingProcess {
  let child: ChildProcess | undefined;
  let closed: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  const close = async (): Promise<void> => {
    clearTimeout(idleTimer);
    closed = child;
    child = undefined;
    await (closed && end(closed));
  };

  const ensureStarted = async (): Promise<ChildProcess> => {
    if (child) return child;
    const started = start(program);
    child = started;
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    const answer = await nextMessage(started, START_TIMEOUT_MS);
    if (answer === 'ready') return started;
    // One that could not be started has no `exit` event.
    if (child === started) child = undefined;
    if (answer === INTERRUPTED) throw new Interrupted('The process that parses was killed');
    throw new Error('The process that parses failed to start');
  };

  const runOnce = async (request: TaskRequest): Promise<TaskResponse> => {
    clearTimeout(idleTimer);
    const running = await ensureStarted();
    const response = nextMessage(running, timeoutMs, cpuTimeMs(running.pid));
    for (const message of splitRequest(request)) await send(running, message);
    const answer = await response;
    idleTimer = setTimeout(close, idleTimeoutMs).unref();
    if (answer === INTERRUPTED) {
      // Its end may not have been reported yet: another attempt would meet the same process.
      await end(running);
      throw new Interrupted('The process that parses was killed');
    }
    if (running === closed) throw new Error('The process that parses was closed');
    if (answer === TIMED_OUT) throw new DOMException('Parsing took too long', 'TimeoutError');
    if (answer === undefined) throw new ParsingLimitExceeded();
    return answer as unknown as TaskResponse;
  };

  return {
    async run(request) {
      // A process that was killed from outside says nothing about the input.
      for (let attempt = 1; ; attempt++) {
        try {
          return await runOnce(request);
        } catch (error) {
          if (!(error instanceof Interrupted) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },
    close,
  };
}

function start(program: string): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  const [command = process.execPath, ...wrapped] = [...endWithParent(), process.execPath];
  const child = fork(program, {
    // Structured clone: buffers are not converted to JSON.
    serialization: 'advanced',
    execPath: command,
    execArgv: [...wrapped, ...process.execArgv, ...permissionsFor(program), `--max-old-space-size=${MAX_HEAP_MB}`],
    // No credentials, and no Node.js options.
    env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {},
    // Its output may repeat parts of a hostile file, which must not reach a terminal.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Not `detached`: Linux schedules sessions equally, whatever the niceness of their processes (sched(7), autogroup).
  });
  // The child alone must not keep this process alive.
  child.unref();
  child.channel?.unref();
  killWhenStopped(child);
  if (child.pid !== undefined) setPriority(child.pid, Math.min(MAX_NICENESS, getPriority() + NICENESS));
  // A failure to spawn or to send is noticed by the missing response.
  return child.on('error', () => undefined);
}

/** Sends a message. A failure to send is noticed by the missing response. */
const send = (child: ChildProcess, message: Serializable): Promise<void> =>
  new Promise((resolve) => void child.send(message, () => resolve()));

/**
 * Options with which Node reads the modules of the program, and no other files, writes none and starts no processes. Empty
 * for a version of Node without permissions.
 */
function permissionsFor(program: string): string[] {
  if (!process.allowedNodeEnvironmentFlags.has('--permission')) return [];
  const sources = SOURCES.map((name) => fileURLToPath(new URL(`../../${name}`, import.meta.url)));
  const readable = extname(program) === '.ts' ? [...sources, dirname(program)] : [dirname(program)];
  return ['--permission', ...readable.filter(existsSync).map((path) => `--allow-fs-read=${realpathSync(path)}`)];
}

/**
 * The next message; undefined when the child exits first, or is killed at its limit; TIMED_OUT when it is killed because it has
 * not got enough processor time; INTERRUPTED when it was killed or stopped from outside.
 * @param timeoutMs of processor time where `startedCpuMs` is given, else of elapsed time
 * @param startedCpuMs processor time that the child has used before
 */
async function nextMessage(
  child: ChildProcess,
  timeoutMs: number,
  startedCpuMs?: number,
): Promise<Serializable | Ending> {
  const { promise, resolve } = Promise.withResolvers<Serializable | Ending>();
  const endsAt = performance.now() + timeoutMs * MAX_WAIT_FACTOR;
  let reason: Ending;
  // It was gone when the message was sent.
  const onError = () => resolve(INTERRUPTED);
  const onExit = (_code: number | null, signal: NodeJS.Signals | null) =>
    resolve(signal === 'SIGKILL' && !child.killed ? INTERRUPTED : reason);
  const onTimeout = () => {
    const cpuMs = startedCpuMs === undefined ? undefined : cpuTimeMs(child.pid);
    const leftMs = cpuMs === undefined || startedCpuMs === undefined ? 0 : timeoutMs - (cpuMs - startedCpuMs);
    if (isStopped(child.pid)) reason = INTERRUPTED;
    else if (leftMs > 0 && performance.now() >= endsAt) reason = TIMED_OUT;
    else if (leftMs > 0) {
      timer = setTimeout(onTimeout, leftMs);
      return;
    }
    void end(child);
  };
  let timer = setTimeout(onTimeout, timeoutMs);
  child.once('message', resolve).once('exit', onExit).once('error', onError);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', resolve).off('exit', onExit).off('error', onError);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.kill('SIGKILL');
  await ended;
}
