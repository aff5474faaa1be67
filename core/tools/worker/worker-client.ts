import type { Readable } from 'node:stream';
import {
  MAX_PARSED_BYTES,
  type WorkerFailureKind,
  type WorkerGreeting,
  type WorkerRequest,
  type WorkerResponse,
} from './worker-protocol.ts';

/** Requests and responses over one pair of line streams. */
export interface WorkerClient {
  /** Resolves with the greeting of the worker. Stays pending without one. */
  readonly ready: Promise<WorkerGreeting>;
  send(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerResponse>;
  /** Handles a line from the worker. @returns false when it is not part of the protocol */
  receive(line: Buffer): boolean;
  /** Sends a ping. @returns the number of pings since its last line, this one included */
  ping(): number;
  /** Settles pending and later requests with the failure `crash`, which may be sent again to another worker. */
  fail(): void;
}

/** The worker drops longer lines (MAX_REQUEST_BYTES of _reelay_serve.py). */
const MAX_REQUEST_BYTES = 4 * 2 ** 20;

/** A cancelled request settles when its fork has exited, so that its client's share is used until then; or after this. */
const CANCEL_TIMEOUT_MS = 1_000;

const PING = `${JSON.stringify({ ping: true })}\n`;

/** The beginning of a successful response, as the worker writes it. */
const SUCCESS = /^\{"id":"(\d{1,15})","ok":true,/;
const MAX_SUCCESS_BYTES = 64;

/** @param write sends one line, which includes its line feed */
export function createWorkerClient(write: (line: string) => void): WorkerClient {
  const open = new Map<string, (answer: WorkerResponse) => void>();
  const greeting = Promise.withResolvers<WorkerGreeting>();
  let asked = 0;
  let hasEnded = false;
  let unansweredPings = 0;

  const settle = (id: string, answer: WorkerResponse) => {
    open.get(id)?.(answer);
    open.delete(id);
  };

  const receiveLarge = (json: Buffer): boolean => {
    const id = SUCCESS.exec(json.toString('latin1', 0, MAX_SUCCESS_BYTES))?.[1];
    if (id === undefined) return false;
    unansweredPings = 0;
    settle(id, { id, ok: true, json });
    return true;
  };

  return {
    ready: greeting.promise,
    send(request, signal) {
      const id = String(++asked);
      const line = `${JSON.stringify({ ...request, id })}\n`;
      if (hasEnded) return Promise.resolve(createInterruption(id));
      if (signal?.aborted) return Promise.resolve(createFailure(id, 'cancelled'));
      if (Buffer.byteLength(line) > MAX_REQUEST_BYTES) return Promise.resolve(createFailure(id, 'too_large'));

      const cancel = () => {
        write(`${JSON.stringify({ cancel: id })}\n`);
        // The worker may hang.
        timer = setTimeout(settle, CANCEL_TIMEOUT_MS, id, createFailure(id, 'cancelled'));
      };
      let timer: NodeJS.Timeout | undefined;
      signal?.addEventListener('abort', cancel, { once: true });
      write(line);
      return new Promise<WorkerResponse>((resolve) => open.set(id, resolve)).finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      });
    },
    receive(line) {
      if (line.length > MAX_PARSED_BYTES) return receiveLarge(line);
      const message = parse(line.toString());
      if (!message) return false;
      unansweredPings = 0;
      if (message.ready === true) greeting.resolve(message as unknown as WorkerGreeting);
      else if (message.pong === true) return true;
      else if (isAnswer(message)) settle(message.id, message);
      else return false;
      return true;
    },
    ping() {
      write(PING);
      unansweredPings += 1;
      return unansweredPings;
    },
    fail() {
      hasEnded = true;
      for (const id of [...open.keys()]) settle(id, createInterruption(id));
    },
  };
}

const createFailure = (id: string, kind: WorkerFailureKind): WorkerResponse => ({ id, ok: false, error: { kind } });
const createInterruption = (id: string): WorkerResponse => ({
  id,
  ok: false,
  error: { kind: 'crash', isInterrupted: true },
});

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) ? message : undefined;
  } catch {
    return undefined; // reported by the caller
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isAnswer = (message: Record<string, unknown>): message is Record<string, unknown> & WorkerResponse =>
  typeof message.id === 'string' && (message.ok === true ? isObject(message.info) : isObject(message.error));

interface BoundedLinesOptions {
  /** Length of a line without its line feed. */
  readonly maxBytes: number;
  readonly onLine: (line: Buffer) => void;
  /** Called once for each longer line, with its first `maxBytes`; the rest is dropped. */
  readonly onTooLong: (start: string) => void;
}

/** Reads lines and buffers at most one of `maxBytes`. Bytes after the last line feed are ignored. */
export function readBoundedLines(stream: Readable, { maxBytes, onLine, onTooLong }: BoundedLinesOptions): void {
  let parts: Buffer[] = [];
  let size = 0;
  let isSkipping = false;

  const take = (part: Buffer) => {
    if (isSkipping) return;
    parts.push(part);
    size += part.length;
    if (size <= maxBytes) return;
    isSkipping = true;
    onTooLong(Buffer.concat(parts).toString('utf8', 0, maxBytes));
    parts = [];
  };

  stream.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      if (!isSkipping) onLine(Buffer.concat(parts));
      parts = [];
      size = 0;
      isSkipping = false;
      start = end + 1;
    }
    take(chunk.subarray(start));
  });
}
