import type { WorkerFailureKind, WorkerRequest, WorkerResponse } from './worker-protocol.ts';

/** Questions and answers over one pair of line streams. */
export interface WorkerClient {
  /** Settles at the worker's greeting, never when there is none. */
  readonly ready: Promise<void>;
  send(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerResponse>;
  /** Takes a line of the worker; false when it is none of the protocol. */
  receive(line: string): boolean;
  /** Answers what is open, and all that is asked later, with `crash`. */
  fail(): void;
}

/** The worker drops longer lines. */
const MAX_QUESTION_BYTES = 4 * 2 ** 20;

/** @param write sends one line, its end included */
export function createWorkerClient(write: (line: string) => void): WorkerClient {
  const open = new Map<string, (answer: WorkerResponse) => void>();
  const greeting = Promise.withResolvers<void>();
  let asked = 0;
  let hasEnded = false;

  const settle = (id: string, answer: WorkerResponse) => {
    open.get(id)?.(answer);
    open.delete(id);
  };

  return {
    ready: greeting.promise,
    send(request, signal) {
      const id = String(++asked);
      const line = `${JSON.stringify({ ...request, id })}\n`;
      if (hasEnded) return Promise.resolve(failed(id, 'crash'));
      if (signal?.aborted) return Promise.resolve(failed(id, 'cancelled'));
      if (Buffer.byteLength(line) > MAX_QUESTION_BYTES) return Promise.resolve(failed(id, 'too_large'));

      const cancel = () => {
        write(`${JSON.stringify({ cancel: id })}\n`);
        // Not left to the worker: whoever leaves does not wait for one that hangs.
        settle(id, failed(id, 'cancelled'));
      };
      signal?.addEventListener('abort', cancel, { once: true });
      write(line);
      return new Promise<WorkerResponse>((resolve) => open.set(id, resolve)).finally(() =>
        signal?.removeEventListener('abort', cancel),
      );
    },
    receive(line) {
      const message = parse(line);
      if (!message) return false;
      if (message.ready === true) greeting.resolve();
      else if (isAnswer(message)) settle(message.id, message);
      else return false;
      return true;
    },
    fail() {
      hasEnded = true;
      for (const id of [...open.keys()]) settle(id, failed(id, 'crash'));
    },
  };
}

const failed = (id: string, kind: WorkerFailureKind): WorkerResponse => ({ id, ok: false, error: { kind } });

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) ? message : undefined;
  } catch {
    return undefined; // told by the caller, which knows where the line came from
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isAnswer = (message: Record<string, unknown>): message is Record<string, unknown> & WorkerResponse =>
  typeof message.id === 'string' && (message.ok === true ? isObject(message.info) : isObject(message.error));
