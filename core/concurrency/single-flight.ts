/** Runs work for a key, or joins the run that is in progress for it. */
export type SingleFlight<T> = (
  key: string,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  /** Callers that have not aborted. */
  waiting: number;
}

/**
 * At most one run per key at a time: concurrent callers of the same key share its result. A caller leaves by its own
 * signal; the work is aborted when the last one has left, and the next caller starts a new run.
 */
export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  const forget = (key: string, flight: Flight<T>) => {
    if (flights.get(key) === flight) flights.delete(key);
  };

  const start = (key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    const controller = new AbortController();
    const flight: Flight<T> = { result: work(controller.signal), controller, waiting: 0 };
    flights.set(key, flight);
    // A rejection handler as well: once every caller has left, nothing else handles a failure.
    flight.result.then(
      () => forget(key, flight),
      () => forget(key, flight),
    );
    return flight;
  };

  return (key, work, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const flight = flights.get(key) ?? start(key, work);
    flight.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        flight.waiting -= 1;
        if (flight.waiting === 0) {
          forget(key, flight);
          flight.controller.abort(signal?.reason);
        }
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      flight.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  };
}
