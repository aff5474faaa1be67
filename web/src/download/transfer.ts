import { continues, type Entity, entityOf, rangeHeaders } from '../../../clients/reelay-client/src/index.ts';
import {
  ApiFailure,
  connectionFailure,
  type Fetch,
  failureOf,
  fetchResponse,
  isRetryable,
  type Sleep,
  type Waiting,
  waitingOf,
} from '../api/index.ts';
import type { Sink } from './sink.ts';

/** A transfer failed for a reason other than a response. */
export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
  readonly kind: 'interrupted' | 'changed' | 'no-space' | 'not-writable';

  constructor(kind: TransferFailure['kind'], options?: ErrorOptions) {
    super(kind, options);
    this.kind = kind;
  }
}

export interface TransferOptions {
  readonly url: string;
  readonly sink: Sink;
  /** What an earlier page received of the same entity. */
  readonly resumeFrom?: { readonly receivedBytes: number; readonly entity: Entity };
  readonly fetch: Fetch;
  readonly sleep: Sleep;
  readonly stallTimeoutMs: number;
  /** Called with the size of each chunk once it is written. */
  readonly onBytes: (bytes: number) => void;
  /** Called before a wait, and without a value when connecting again. */
  readonly onWaiting: (waiting?: Waiting) => void;
}

/** Copies one stream into one sink. */
export interface Transfer {
  readonly receivedBytes: number;
  readonly entity: Entity | undefined;
  readonly canResume: boolean;
  /**
   * Settles when the file is complete and closed. Call again after a failure to resume.
   * @throws ApiFailure, TransferFailure, or the signal's reason
   */
  run(signal: AbortSignal): Promise<void>;
  /** Closes the connection if the stream can be resumed, otherwise stops reading from it. */
  pause(): void;
  resume(): void;
  /** Treats the received bytes as the complete file: `run` closes it and settles. */
  finish(): void;
}

/** Maximum total wait without progress. */
const MAX_WAIT_SECONDS = 600;
/** The same before the first response: a wrong address should fail soon. */
const MAX_INITIAL_WAIT_SECONDS = 4;
const PROGRESS_BYTES = 65_536;
const MAX_BACKOFF_SECONDS = 30;
const MAX_RESTARTS = 2;

/** Abort reason of an attempt that will be resumed. */
const PAUSED = new DOMException('Paused', 'AbortError');
/** Abort reason of an attempt that completes the file. */
const FINISHED = new DOMException('Finished', 'AbortError');

export function createTransfer(options: TransferOptions): Transfer {
  const { url, sink, fetch, sleep, stallTimeoutMs, onBytes, onWaiting, resumeFrom } = options;
  let entity = resumeFrom?.entity;
  let receivedBytes = resumeFrom?.receivedBytes ?? 0;
  let attempt = new AbortController();
  let gate: PromiseWithResolvers<void> | undefined;
  let restarts = 0;
  let isFinished = false;
  const retries = createRetries();

  const startOver = async () => {
    if (++restarts > MAX_RESTARTS) throw new TransferFailure('changed');
    await write(() => sink.restart());
    receivedBytes = 0;
    entity = undefined;
  };

  /** A response that starts at `receivedBytes`. */
  const connect = async (signal: AbortSignal): Promise<Response> => {
    if (receivedBytes > 0 && !entity?.canResume) {
      await write(() => sink.restart());
      receivedBytes = 0;
    }
    const headers = entity ? rangeHeaders(entity, receivedBytes) : {};
    const response = await within(signal, () => fetchResponse(fetch, url, { headers, cache: 'no-store', signal }));
    if (response.status === 206 && entity && receivedBytes > 0 && continues(response, entity, receivedBytes)) {
      return response;
    }
    const isOther = receivedBytes > 0 && (response.status < 300 || response.status === 416);
    if (isOther) await startOver();
    if (response.status === 200) {
      entity = entityOf(response);
      return response;
    }
    await (response.ok || isOther ? response.body?.cancel() : undefined);
    if (isOther) return connect(signal);
    throw response.ok ? new ApiFailure('failed') : await failureOf(response, 'stream');
  };

  const copyBody = async (body: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal): Promise<void> => {
    const reader = body.getReader();
    try {
      for (;;) {
        await whileNotPaused(gate, signal);
        const { done, value } = await within(signal, () => reader.read()).catch(asInterruption);
        if (done) return;
        const total = entity?.totalBytes;
        if (total !== undefined && receivedBytes + value.length > total) throw new TransferFailure('changed');
        await write(() => sink.write(value));
        receivedBytes += value.length;
        retries.progress(value.length);
        onBytes(value.length);
      }
    } finally {
      // Also closes a connection that still sends.
      reader.cancel().catch(() => undefined);
    }
  };

  /** Aborts the attempt when `act` does not settle within the stall timeout. */
  const within = async <T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> => {
    const current = attempt;
    const timer = setTimeout(() => current.abort(new DOMException('Stalled', 'TimeoutError')), stallTimeoutMs);
    try {
      return await act();
    } catch (error) {
      throw error instanceof ApiFailure ? error : connectionFailure(error, signal);
    } finally {
      clearTimeout(timer);
    }
  };

  const tryOnce = async (cancelled: AbortSignal): Promise<void> => {
    attempt = new AbortController();
    const signal = AbortSignal.any([cancelled, attempt.signal]);
    const { body } = await connect(signal);
    if (body) await copyBody(body as ReadableStream<Uint8Array<ArrayBuffer>>, signal);
    const isWhole = entity?.totalBytes === undefined ? receivedBytes > 0 : receivedBytes === entity.totalBytes;
    if (!isWhole) throw new TransferFailure('interrupted');
  };

  /** Waits before the next attempt. @throws the failure if a retry cannot help */
  const recover = async (error: unknown, cancelled: AbortSignal): Promise<void> => {
    cancelled.throwIfAborted();
    if (error === PAUSED) return;
    if (error instanceof TransferFailure && error.kind === 'changed') return startOver();
    const failure = toRetry(error, { isBegun: receivedBytes > 0, canResume: entity?.canResume ?? false });
    const seconds = retries.next(failure, receivedBytes > 0);
    onWaiting(waitingOf(failure, seconds));
    attempt = new AbortController();
    try {
      await sleep(seconds * 1000, AbortSignal.any([cancelled, attempt.signal]));
    } catch (reason) {
      if (reason !== PAUSED) throw reason;
    }
  };

  return {
    get receivedBytes() {
      return receivedBytes;
    },
    get entity() {
      return entity;
    },
    get canResume() {
      return entity?.canResume ?? false;
    },
    async run(cancelled) {
      retries.reset();
      while (!isFinished) {
        try {
          if (gate) await write(async () => sink.flush?.());
          await whileNotPaused(gate, cancelled);
          onWaiting();
          await tryOnce(cancelled);
          break;
        } catch (error) {
          if (error !== FINISHED) await recover(error, cancelled);
        }
      }
      await write(() => sink.close());
    },
    pause() {
      gate ??= Promise.withResolvers<void>();
      if (receivedBytes === 0 || entity?.canResume) attempt.abort(PAUSED);
    },
    resume() {
      gate?.resolve();
      gate = undefined;
    },
    finish() {
      isFinished = true;
      attempt.abort(FINISHED);
    },
  };
}

/** Maps to a failure worth retrying. @throws the failure to report otherwise */
function toRetry(error: unknown, { isBegun, canResume }: { isBegun: boolean; canResume: boolean }): ApiFailure {
  if (isBegun && !canResume) {
    const isBroken = error instanceof TransferFailure ? error.kind === 'interrupted' : error instanceof ApiFailure;
    throw isBroken ? new TransferFailure('interrupted', { cause: error }) : error;
  }
  if (error instanceof TransferFailure && error.kind === 'interrupted')
    return new ApiFailure('interrupted', {}, { cause: error });
  if (!(error instanceof ApiFailure)) throw error;
  if (isRetryable(error) || error.kind === 'offline' || error.kind === 'unreachable') return error;
  // A source that fails at the start is reported; mid-stream it counts as a drop.
  if (error.kind === 'failed' && isBegun) return error;
  throw error;
}

/** Mid-stream, a broken connection does not mean that the instance is unreachable. */
function asInterruption(error: unknown): never {
  const isBroken = error instanceof ApiFailure && error.kind === 'unreachable';
  throw isBroken ? new TransferFailure('interrupted', { cause: error }) : error;
}

/** Backoff and the total wait. */
function createRetries() {
  let left = MAX_WAIT_SECONDS;
  let firstLeft = MAX_INITIAL_WAIT_SECONDS;
  let drops = 0;
  let progressed = 0;
  const reset = () => {
    left = MAX_WAIT_SECONDS;
    firstLeft = MAX_INITIAL_WAIT_SECONDS;
    drops = 0;
    progressed = 0;
  };
  return {
    reset,
    progress(bytes: number) {
      progressed += bytes;
      if (progressed >= PROGRESS_BYTES) reset();
    },
    /** Seconds. @throws the failure when the maximum wait is exceeded */
    next(failure: ApiFailure, isBegun: boolean): number {
      const said = isRetryable(failure) ? failure.retryAfterSeconds : undefined;
      const seconds = said ?? Math.min(0.5 * 2 ** drops++, MAX_BACKOFF_SECONDS);
      if (said === undefined && !isBegun) firstLeft -= seconds;
      left -= seconds;
      if (left < 0 || firstLeft < 0) throw failure;
      return seconds;
    },
  };
}

/** Rejects with the abort reason; never resolves. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function whileNotPaused(gate: PromiseWithResolvers<void> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (gate) await Promise.race([gate.promise, aborted(signal)]);
}

async function write(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    const isFull = error instanceof DOMException && error.name === 'QuotaExceededError';
    throw new TransferFailure(isFull ? 'no-space' : 'not-writable', { cause: error });
  }
}
