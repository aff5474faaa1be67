import { ReelayError } from './failure.ts';

/** A wait before another attempt. */
export interface Waiting {
  readonly failure: ReelayError;
  readonly seconds: number;
}

export interface RetryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Total time to wait for temporary failures to pass, by `Retry-After` where the instance sends it. @default 0: no retries */
  readonly maxWaitSeconds?: number | undefined;
  /** The same for failures of the site of a link (502), which other links may not have. @default maxWaitSeconds */
  readonly maxSiteWaitSeconds?: number | undefined;
  /** Called before each wait. */
  readonly onWaiting?: ((waiting: Waiting) => void) | undefined;
  /** Settles after a delay; rejects with the reason of the signal. For tests. */
  readonly sleep?: ((milliseconds: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** First delay without `Retry-After`; it doubles with each failure. */
const FIRST_DELAY_SECONDS = 0.5;
const MAX_DELAY_SECONDS = 15;

/** Waits between attempts. */
interface Retries {
  /** Waits before the next attempt. @throws the error itself when it is not temporary, or the time is used up */
  next(error: unknown): Promise<void>;
  /** Makes the whole waiting time available again, after progress. */
  reset(): void;
}

export function createRetries(options: RetryOptions): Retries {
  const { signal, maxWaitSeconds = 0, maxSiteWaitSeconds = maxWaitSeconds, onWaiting, sleep = pause } = options;
  let waitedSeconds = 0;
  let failures = 0;
  return {
    async next(error) {
      if (!(error instanceof ReelayError) || !error.isTemporary) throw error;
      const seconds = error.retryAfterSeconds ?? Math.min(FIRST_DELAY_SECONDS * 2 ** failures++, MAX_DELAY_SECONDS);
      waitedSeconds += seconds;
      if (waitedSeconds > (error.status === 502 ? maxSiteWaitSeconds : maxWaitSeconds)) throw error;
      onWaiting?.({ failure: error, seconds });
      await sleep(seconds * 1000, signal);
    },
    reset() {
      waitedSeconds = 0;
      failures = 0;
    },
  };
}

/** Repeats an action after temporary failures. @throws what it threw last */
export async function withRetries<T>(act: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const retries = createRetries(options);
  for (;;) {
    try {
      return await act();
    } catch (error) {
      await retries.next(error);
    }
  }
}

const pause = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
