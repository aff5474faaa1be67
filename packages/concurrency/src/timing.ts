import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** When the work of one caller must be done, and whether the caller still waits. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** The client that the caller works for: limits are shared fairly between clients. @default the service itself */
  readonly client?: string;
}

/** Aborts with the caller's signal, or with a TimeoutError (DOMException) once the deadline has passed. */
export const deadlineSignal = ({ deadline, signal }: Deadline): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(deadline - Date.now())))]);

/**
 * Rejects with the signal's reason as soon as it is aborted. The work itself continues unless it observes the signal
 * too.
 */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Waits for work for at most `timeoutMs`, then resolves while the work continues in the background. Unlike
 * `AbortSignal.timeout`, its timer keeps the process alive.
 * @throws what the work throws within that time
 */
export async function waitAtMost(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  const done = new AbortController();
  const timeout = sleep(Math.max(0, timeoutMs), undefined, { signal: done.signal }).catch(() => undefined);
  try {
    await Promise.race([work, timeout]);
  } finally {
    done.abort();
  }
}

interface RetryDelayOptions {
  /** Milliseconds after the first failure; doubled after each further one. */
  readonly initialDelayMs: number;
  /** @default no limit */
  readonly maxDelayMs?: number;
}

/**
 * Exponential backoff.
 * @param failures consecutive ones, at least 1
 * @returns milliseconds to wait before the next attempt
 */
export const getRetryDelay = (
  failures: number,
  { initialDelayMs, maxDelayMs = Number.POSITIVE_INFINITY }: RetryDelayOptions,
): number => Math.min(initialDelayMs * 2 ** (failures - 1), maxDelayMs);

interface RetryOptions {
  /** Whether a failure may pass. */
  readonly isPassing: (error: unknown) => boolean;
  /** Before the second attempt; doubled before each further one. */
  readonly pauseMs: number;
  readonly maxRetries: number;
  readonly signal: AbortSignal;
}

/** Attempts something again while its failures may pass, with growing pauses. @throws the last failure, or the reason of the signal */
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

/** Milliseconds after which long work returns to the event loop. */
const SLICE_MS = 10;

let lastTurn: Promise<void> = Promise.resolve();

/**
 * Waits for a turn of the event loop that no other caller gets. Work of some milliseconds that several requests do at once
 * then takes a turn each.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/**
 * Divides work that waits for nothing into slices: other clients wait for one slice at most. Await the result of the function
 * between steps: it returns to the event loop once a slice is over.
 */
export function createSlices(sliceMs = SLICE_MS): () => Promise<void> | undefined {
  let end = performance.now() + sliceMs;
  const nextSlice = async () => {
    await setImmediate();
    end = performance.now() + sliceMs;
  };
  return () => (performance.now() < end ? undefined : nextSlice());
}

/** Collects what an iterator yields, in slices. */
export async function collectInSlices<T>(steps: Iterable<T>, sliceMs = SLICE_MS): Promise<T[]> {
  const collected: T[] = [];
  const endSlice = createSlices(sliceMs);
  for (const step of steps) {
    collected.push(step);
    await endSlice();
  }
  return collected;
}
