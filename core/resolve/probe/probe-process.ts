import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { ContainerRequest, Reading } from './container-reader.ts';

export interface ProbeProcessOptions {
  /** Milliseconds that one reading may take. A large index takes some hundred on a busy machine. @default 1500 */
  readonly patience?: number;
  /** Milliseconds without a question after which it ends. @default 60000 */
  readonly idle?: number;
}

/** Reads containers in a process of its own, which starts when it is first asked. */
export interface ProbeProcess {
  /**
   * What a file says of itself: nothing when reading it takes too long, takes the process down, or its turn comes after
   * the signal was aborted.
   * @throws when the process does not start
   */
  ask(question: ContainerRequest, signal: AbortSignal): Promise<Reading>;
  close(): Promise<void>;
}

/** Beside this file, or beside the bundle that this file is in. */
const WORKER = fileURLToPath(new URL(`./probe-worker${extname(import.meta.filename)}`, import.meta.url));
const START_PATIENCE = 15_000;
/** MB of its heap. The largest index that is read, 6 MB, takes half of it. */
const HEAP = 128;

/**
 * Whoever writes a file decides what reading it costs: a few bytes may ask for a loop without end, or for more memory than
 * there is. A thread would not do: when an array outgrows its heap, V8 ends the whole process.
 */
export function createProbeProcess({ patience = 1500, idle = 60_000 }: ProbeProcessOptions = {}): ProbeProcess {
  // So that it is known which file a reading without end belongs to.
  const inTurn = pLimit(1);
  let child: ChildProcess | undefined;
  let idleTimer: NodeJS.Timeout | undefined;

  const retire = async (): Promise<void> => {
    clearTimeout(idleTimer);
    const retired = child;
    child = undefined;
    await (retired && end(retired));
  };

  const wake = async (): Promise<ChildProcess> => {
    if (child) return child;
    const started = start();
    started.once('exit', () => {
      if (child === started) child = undefined;
    });
    if ((await nextMessage(started, START_PATIENCE)) !== 'ready')
      throw new Error('The process that reads containers does not start');
    child = started;
    return started;
  };

  const askNow = async (question: ContainerRequest): Promise<Reading> => {
    clearTimeout(idleTimer);
    const asked = await wake();
    asked.send(question);
    const answer = await nextMessage(asked, patience);
    idleTimer = setTimeout(retire, idle).unref();
    return (answer as Reading | undefined) ?? {};
  };

  return { ask: (question, signal) => inTurn(async () => (signal.aborted ? {} : askNow(question))), close: retire };
}

function start(): ChildProcess {
  const { NODE_COMPILE_CACHE } = process.env;
  const child = fork(WORKER, {
    // Bytes go as they are.
    serialization: 'advanced',
    execArgv: [...process.execArgv, `--max-old-space-size=${HEAP}`],
    // Nothing of ours: no credentials, no options of Node's.
    env: NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {},
    // What it has to say of a file comes from the file: no terminal is to read that.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // A group of its own: Ctrl-C at the terminal reaches the service, which still answers then.
    detached: true,
  });
  // Whoever waits for its answer keeps this process going: it alone does not.
  child.unref();
  child.channel?.unref();
  // What cannot be spawned, or sent to, is told by its silence.
  return child.on('error', () => undefined);
}

/** Undefined when it ends before, or says nothing in time and is ended. */
async function nextMessage(child: ChildProcess, patience: number): Promise<Serializable | undefined> {
  const { promise, resolve } = Promise.withResolvers<Serializable | undefined>();
  const giveUp = () => resolve(undefined);
  const timer = setTimeout(() => void end(child).then(giveUp), patience);
  child.once('message', resolve).once('exit', giveUp).once('error', giveUp);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.off('message', resolve).off('exit', giveUp).off('error', giveUp);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.ref();
  child.kill('SIGKILL');
  await ended;
}
