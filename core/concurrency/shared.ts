/**
 * Makes work that everyone who asks meanwhile shares. Each may leave by its own signal; the work is aborted when the
 * last of them has left.
 */
export function createShared<T>(work: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let running: { readonly promise: Promise<T>; readonly abort: AbortController; waiting: number } | undefined;

  return async (signal) => {
    signal.throwIfAborted();
    if (!running) {
      const abort = new AbortController();
      const promise = work(abort.signal).finally(() => {
        if (running?.abort === abort) running = undefined;
      });
      running = { promise, abort, waiting: 0 };
    }
    const joined = running;
    joined.waiting += 1;
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([joined.promise, left.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      joined.waiting -= 1;
      // Whoever comes from now on begins anew rather than join what is being aborted.
      if (joined.waiting === 0 && running === joined) {
        running = undefined;
        joined.abort.abort(signal.reason);
      }
    }
  };
}
