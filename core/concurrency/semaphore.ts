/** Turns at something of which only so much is done at once. */
export interface Semaphore {
  /**
   * Waits for a turn, first come, first served.
   * @returns what ends it
   * @throws Error when it did not come within the bound
   */
  acquire(): Promise<() => void>;
}

export interface SemaphoreOptions {
  readonly permits: number;
  /** Milliseconds for which a turn is waited for. */
  readonly maxWaitMs: number;
}

export function createSemaphore({ permits: atOnce, maxWaitMs: maxWait }: SemaphoreOptions): Semaphore {
  const waiting = new Set<() => void>();
  let taken = 0;

  /** Hands the turn on, so that nobody comes in between. */
  const end = () => {
    const [next] = waiting;
    if (next) next();
    else taken -= 1;
  };

  return {
    async acquire() {
      if (taken < atOnce) taken += 1;
      else
        await new Promise<void>((resolve, reject) => {
          const go = () => {
            clearTimeout(timer);
            waiting.delete(go);
            resolve();
          };
          const timer = setTimeout(() => {
            waiting.delete(go);
            reject(new Error(`Others kept it busy for ${maxWait} ms`));
          }, maxWait);
          waiting.add(go);
        });
      return end;
    },
  };
}
