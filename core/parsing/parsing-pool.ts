import { setImmediate } from 'node:timers/promises';
import { abortable, createSemaphore } from '@reelay/concurrency';
import { ParsingLimitExceeded } from '../errors/index.ts';
import { createParsingProcess, type ParsingProcess, type ParsingProcessOptions } from './parsing-process.ts';
import { inputBytes, type ParsingTask, readResponse } from './task.ts';

/** For whom a task runs, and until when. */
export interface ParsingOptions {
  /** The client whose share of the processes is used. @default the service itself */
  readonly client?: string;
  readonly signal?: AbortSignal;
}

/**
 * Runs tasks on what strangers sent without blocking the event loop. Pools of others (tinypool, piscina) know neither clients among whom
 * processes are shared, nor limits of CPU time of a process in the sandbox.
 */
interface ParsingPool {
  /**
   * Runs a task: at once in this process when its input is small, else in a separate process, shared fairly between clients.
   * @throws what the task throws, its `limitError` too; TimeoutError (DOMException) when the machine is too busy to tell; the signal's reason once it is aborted; Error when no process starts
   */
  parse<Input, Output>(
    task: ParsingTask<Input, Output>,
    input: NoInfer<Input>,
    options?: ParsingOptions,
  ): Promise<Output>;
  /** Ends the processes; the next large input starts another. */
  close(): Promise<void>;
}

interface ParsingPoolOptions extends ParsingProcessOptions {
  readonly createProcess?: (options: ParsingProcessOptions) => ParsingProcess;
}

/**
 * One client uses one process at most: a hundred hostile files of one client, each of which takes its process for the full
 * time limit, delay a file of another client by none of them. The second process runs only while two clients parse.
 */
const PROCESSES = 2;
/** Parsing as much takes a few milliseconds at most; a process takes longer to respond. */
const MAX_INLINE_BYTES = 64 * 1024;

const { signal: NEVER } = new AbortController();

export function createParsingPool(options: ParsingPoolOptions = {}): ParsingPool {
  const { createProcess = createParsingProcess } = options;
  const processes = Array.from({ length: PROCESSES }, () => createProcess(options));
  const free = [...processes];
  const permits = createSemaphore({ permits: PROCESSES, maxPerClient: 1 });

  const runInProcess = async (name: string, input: unknown, client: string, signal: AbortSignal) => {
    const permit = await permits.acquire(client, signal);
    const process = free.shift() as ParsingProcess;
    const work = process.run({ name, input }).finally(() => {
      // To the front: the one that runs is used again before the other one starts.
      free.unshift(process);
      permit.release();
    });
    // The process stays occupied until the task ends: a client that leaves and returns still has one share.
    return abortable(work, signal);
  };

  return {
    async parse(task, input, { client = '', signal = NEVER } = {}) {
      signal.throwIfAborted();
      const { name, run, attempt, weigh = inputBytes, limitError: LimitError } = task;
      if (run && weigh(input) <= MAX_INLINE_BYTES) return run(input);
      const done = attempt?.(input);
      if (done !== undefined) return done;
      const response = await runInProcess(name, input, client, signal).catch((error) => {
        if (!LimitError || !(error instanceof ParsingLimitExceeded)) throw error;
        throw new LimitError('Too complex', { cause: error });
      });
      // Reading a large message has taken a turn of the event loop, and copying what is in it takes another.
      await setImmediate();
      return readResponse(response, task);
    },
    async close() {
      await Promise.all(processes.map((process) => process.close()));
    },
  };
}

/** Shared by everything that parses in this process. */
const shared = createParsingPool();

export const { parse } = shared;

/** Ends the processes that parse; the next large input starts another. */
export const closeParsing = shared.close;
