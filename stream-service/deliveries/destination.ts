import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRetryDelay } from '../../core/concurrency/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import { DestinationFailed, EgressRefused } from '../../core/errors/index.ts';
import type { Representation } from '../outputs/index.ts';

/** A file that is to be stored. */
export interface OutgoingFile extends Pick<Representation, 'read' | 'size' | 'etag' | 'estimatedBytes' | 'mimeType'> {
  /** Relative to the destination. */
  readonly path: string;
  /** Whether it can be read from any byte on. */
  readonly isRanged: boolean;
}

/** What the destination holds of an unfinished file. */
export interface Upload {
  readonly path: string;
  /** The id that S3 has given it. */
  readonly id?: string;
  /** Of the file that its parts are of: those of another one are of no use. */
  readonly etag?: string | undefined;
  readonly size?: number | undefined;
}

/** The delivery that a file is sent for. */
export interface Sending {
  /** What a former attempt has left. */
  readonly upload: Upload | undefined;
  /** To be awaited before the first byte is stored: a process that ends afterwards leaves nothing behind that is not known. */
  readonly onUpload: (upload: Upload) => Promise<void>;
  /** Called when bytes are stored. */
  readonly onStored: (bytes: number) => void;
  /** Aborted when nothing further is to be begun. */
  readonly stop: AbortSignal;
  /** Aborted when what is being sent is of no use. */
  readonly cancelled: AbortSignal;
}

/** Storage for files. All throw DestinationFailed when it refuses or fails. */
export interface Destination {
  /** Bytes of the file at a path; undefined: there is none. */
  sizeOf(path: string): Promise<number | undefined>;
  /** Stores a file whole, or not at all. @throws what reading it throws */
  store(file: OutgoingFile, sending: Sending): Promise<void>;
  /** Removes what it holds of an unfinished file. */
  discard(upload: Upload): Promise<void>;
}

export interface DestinationRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE' | 'MKCOL' | 'MOVE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable;
  /** Of the body. Absent: unknown. */
  readonly bodyBytes?: number | undefined;
  /** Called when a part of the body is handed to the connection. */
  readonly onSent?: (bytes: number) => void;
  /** Ends the request. */
  readonly signal?: AbortSignal | undefined;
}

export interface DestinationResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** @throws DestinationFailed; what the body fails with */
export type SendRequest = (request: DestinationRequest) => Promise<DestinationResponse>;

export interface SenderOptions {
  readonly egress: Pick<Egress, 'request'>;
  /** Milliseconds for which the destination may accept or send no byte. @default 120000 */
  readonly stallTimeoutMs?: number | undefined;
  readonly signal: AbortSignal;
}

const STALL_TIMEOUT_MS = 120_000;
const SLICE_BYTES = 64 * 1024;
/** A list of 1,000 parts takes half of it. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** S3 sends blanks while it puts a large object together, which takes minutes. */
const MAX_RESPONSE_STALLS = 5;

/**
 * Sends requests to a destination, through the egress guard, without following redirects. A stall ends them, however long the
 * body takes in all.
 */
export function createSender({ egress, stallTimeoutMs = STALL_TIMEOUT_MS, signal }: SenderOptions): SendRequest {
  return async ({ method, url, headers, body, bodyBytes, onSent, signal: ended = signal }) => {
    const stalled = new AbortController();
    let isSettled = false;
    const onStall = () => stalled.abort(new DestinationFailed(`No byte for ${stallTimeoutMs / 1000} seconds.`));
    let timer = setTimeout(onStall, stallTimeoutMs);
    // A body that is not read to its end is closed after the answer.
    const watch = (isWatched: boolean) => {
      clearTimeout(timer);
      if (isWatched && !isSettled) timer = setTimeout(onStall, stallTimeoutMs);
    };
    let failure: { readonly error: unknown } | undefined;
    async function* watched(chunks: Iterable<Buffer> | AsyncIterable<Buffer>) {
      try {
        watch(false);
        for await (const chunk of chunks) {
          for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
            watch(true);
            const slice = chunk.subarray(at, at + SLICE_BYTES);
            yield slice;
            onSent?.(slice.length);
          }
          // Waiting for the source is no stall of the destination.
          watch(false);
        }
      } catch (error) {
        failure = { error };
        throw error;
      } finally {
        watch(true);
      }
    }
    try {
      const response = await egress.request(url, {
        ...{ method, headers, maxRedirects: 0, stallTimeoutMs: 0 },
        ...(body && { body: Readable.from(watched(body instanceof Readable ? body : [body]), { objectMode: false }) }),
        ...(bodyBytes !== undefined && { bodyBytes }),
        signal: AbortSignal.any([signal, ended, stalled.signal]),
      });
      const endsAt = Date.now() + MAX_RESPONSE_STALLS * stallTimeoutMs;
      const text = await readText(response.body, () => Date.now() < endsAt && watch(true));
      return { status: response.status, headers: response.headers, text };
    } catch (error) {
      signal.throwIfAborted();
      ended.throwIfAborted();
      stalled.signal.throwIfAborted();
      if (failure) throw failure.error;
      throw toDestinationError(error);
    } finally {
      isSettled = true;
      clearTimeout(timer);
    }
  };
}

async function readText(body: Readable, onData: () => void): Promise<string> {
  let bytes = 0;
  body.on('data', ({ length }: Buffer) => {
    onData();
    bytes += length;
    if (bytes > MAX_RESPONSE_BYTES) body.destroy(new DestinationFailed('Its answer is too long.'));
  });
  return text(body);
}

function toDestinationError(cause: unknown): DestinationFailed {
  if (cause instanceof DestinationFailed) return cause;
  if (cause instanceof EgressRefused && (cause.reason === 'private-address' || cause.reason === 'unknown-host'))
    return new DestinationFailed('The address of the storage is not on the public internet.', {
      reason: cause.reason,
      cause,
    });
  const hasNoTrust = CERTIFICATE_ERRORS.test(codeOf(cause));
  return new DestinationFailed(
    hasNoTrust ? 'The certificate of the storage is not trusted.' : 'The connection failed.',
    {
      ...(hasNoTrust && { reason: 'destination-refused' }),
      cause,
    },
  );
}

/** Codes of Node for a certificate that it does not accept. */
const CERTIFICATE_ERRORS = /CERT|^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/;

/** Of the innermost cause. */
const codeOf = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined
    ? codeOf(error.cause)
    : String((error as NodeJS.ErrnoException | undefined)?.code);

/** Statuses that another attempt may not have. */
const PASSING_STATUSES = new Set([408, 423, 425, 429]);

/** @param what the storage answered besides its status */
export const refusal = (status: number, what = ''): DestinationFailed =>
  new DestinationFailed(`The storage answered ${status}${what && ` ${what}`}.`, {
    reason: (status >= 500 && status !== 507) || PASSING_STATUSES.has(status) ? undefined : 'destination-refused',
  });

export interface RetryOptions {
  /** Whether a failure may pass. */
  readonly isPassing: (error: unknown) => boolean;
  /** Before the second attempt; doubled before each further one. */
  readonly pauseMs: number;
  readonly maxRetries: number;
  readonly signal: AbortSignal;
}

/** Attempts something again while its failures may pass, with growing pauses. @throws the last failure */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { isPassing, pauseMs, maxRetries, signal } = options;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || failures > maxRetries || !isPassing(error)) throw error;
    }
    await sleep(getRetryDelay(failures, { initialDelayMs: pauseMs }), undefined, { signal });
  }
}

export const isPassingFailure = (error: unknown): boolean => error instanceof DestinationFailed && error.isPassing;
/** Of a request to the destination. */
export const MAX_RETRIES = 5;
/** Before the first repetition: a destination has half a minute in all. */
export const PAUSE_MS = 1_000;
