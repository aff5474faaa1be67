import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  createFailure,
  INTERRUPTED,
  MAX_PARSED_BYTES,
  type WorkerGreeting,
  type WorkerRequest,
  type WorkerResponse,
} from './worker-protocol.ts';

export type WorkerClient = ReturnType<typeof createWorkerClient>;

/** The worker drops longer lines (MAX_REQUEST_BYTES of _reelay_serve.py). */
const MAX_REQUEST_BYTES = 4 * 2 ** 20;

/** A cancelled request settles when its fork has exited, so that its client's share is used until then; or after this. */
const CANCEL_TIMEOUT_MS = 1_000;

const PING = `${JSON.stringify({ ping: true })}\n`;

const ID_LENGTH = 36;
/** The worker writes an id and a space in front of what the fork of that request has written. */
const RESPONSE = /^[\da-f-]{36} $/;
/** The beginning of a successful response. */
const SUCCESS = '{"ok":true,';

/**
 * Requests and responses over one pair of line streams.
 * @param write sends one line, which includes its line feed
 * @param onLeft called with the name of a folder that the worker leaves to be removed
 */
export function createWorkerClient(write: (line: string) => void, onLeft: (name: string) => void = () => undefined) {
  const open = new Map<string, (answer: WorkerResponse) => void>();
  const greeting = Promise.withResolvers<WorkerGreeting>();
  let hasEnded = false;
  let unansweredPings = 0;

  const resolvePending = (id: string, answer: WorkerResponse) => {
    open.get(id)?.(answer);
    open.delete(id);
  };

  return {
    /** Resolves with the greeting of the worker. Stays pending without one. */
    ready: greeting.promise,
    send(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerResponse> {
      const id = randomUUID();
      const line = `${JSON.stringify({ ...request, id })}\n`;
      if (hasEnded) return Promise.resolve(INTERRUPTED);
      if (signal?.aborted) return Promise.resolve(createFailure('cancelled'));
      if (Buffer.byteLength(line) > MAX_REQUEST_BYTES) return Promise.resolve(createFailure('too_large'));

      const cancel = () => {
        write(`${JSON.stringify({ cancel: id })}\n`);
        // The worker may hang.
        timer = setTimeout(resolvePending, CANCEL_TIMEOUT_MS, id, createFailure('cancelled'));
      };
      let timer: NodeJS.Timeout | undefined;
      signal?.addEventListener('abort', cancel, { once: true });
      write(line);
      return new Promise<WorkerResponse>((resolve) => open.set(id, resolve)).finally(() => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      });
    },
    /** Handles a line from the worker. @returns false when it is not part of the protocol */
    receive(line: Buffer): boolean {
      const start = line.toString('latin1', 0, ID_LENGTH + 1);
      if (RESPONSE.test(start)) resolvePending(start.trimEnd(), readResponse(line.subarray(ID_LENGTH + 1)));
      else {
        const message = parse(line);
        if (message?.ready === true) greeting.resolve(message as unknown as WorkerGreeting);
        else if (typeof message?.left === 'string' && /^\w+$/.test(message.left)) onLeft(message.left);
        else if (message?.pong !== true) return false;
      }
      unansweredPings = 0;
      return true;
    },
    /** Sends a ping. @returns the number of pings since its last line, this one included */
    ping(): number {
      write(PING);
      unansweredPings += 1;
      return unansweredPings;
    },
    /** Answers pending and later requests with the failure `crash`, which may be sent again to another worker. */
    fail(): void {
      hasEnded = true;
      for (const id of [...open.keys()]) resolvePending(id, INTERRUPTED);
    },
  };
}

/** What a fork has written, which may be anything. */
function readResponse(json: Buffer): WorkerResponse {
  const isLarge = json.length > MAX_PARSED_BYTES;
  if (isLarge && json.toString('latin1', 0, SUCCESS.length) === SUCCESS) return { ok: true, json };
  const message = isLarge ? undefined : parse(json);
  return message && isResponse(message) ? message : createFailure('crash');
}

function parse(line: Buffer): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(line.toString());
    return isObject(message) ? message : undefined;
  } catch {
    return undefined; // reported by the caller
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isResponse = (message: Record<string, unknown>): message is Record<string, unknown> & WorkerResponse =>
  message.ok === true ? isObject(message.info) : isObject(message.error);

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
