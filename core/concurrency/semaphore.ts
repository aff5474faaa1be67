/** Limits how many callers do something at once. */
export interface Semaphore {
  /**
   * Waits for a permit, first come, first served.
   * @returns releases the permit; further calls have no effect
   * @throws Error after `maxWaitMs`; the signal's reason once it is aborted
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
  /** A permit if one is free now. */
  tryAcquire(): (() => void) | undefined;
  /** Callers that wait for a permit. */
  waiting(): number;
}

export interface SemaphoreOptions {
  readonly permits: number;
  /** Milliseconds a caller waits for a permit. @default no limit */
  readonly maxWaitMs?: number;
}

export function createSemaphore({ permits, maxWaitMs }: SemaphoreOptions): Semaphore {
  /** In order of arrival. */
  const queue = new Set<() => void>();
  let held = 0;

  const createRelease = () => {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = queue;
      // The permit passes to the next caller without being free in between, so that no newcomer overtakes it.
      if (next) next();
      else held -= 1;
    };
  };

  const enqueue = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        queue.delete(onPermit);
      };
      const onPermit = () => {
        end();
        resolve();
      };
      const onAbort = () => {
        end();
        reject(signal?.reason);
      };
      const onTimeout = () => {
        end();
        reject(new Error(`No permit within ${maxWaitMs} ms`));
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(onTimeout, maxWaitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.add(onPermit);
    });

  const tryAcquire = () => {
    if (held >= permits) return undefined;
    held += 1;
    return createRelease();
  };

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const release = tryAcquire();
      if (release) return release;
      await enqueue(signal);
      return createRelease();
    },
    tryAcquire,
    waiting: () => queue.size,
  };
}
