interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Runs work for a key, or joins what already runs for it. */
export type SingleFlight<T> = (
  key: string,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

/**
 * One piece of work per key at a time: whoever asks for the same shares it. It goes on while one of them still waits;
 * the last one to leave cancels it.
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
    // Both ways: when everyone has left, nobody else hears of a failure.
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
