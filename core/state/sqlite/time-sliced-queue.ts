import { setImmediate } from 'node:timers';

/** Runs synchronous operations in order. Settles with the result of the operation. */
export interface TimeSlicedQueue {
  run<T>(operation: () => T): Promise<T>;
  /** Runs what is queued, at once. */
  flush(): void;
}

/**
 * Creates a queue that returns to the event loop after each slice: a thousand queued operations delay other work by one
 * slice and one operation, not by all of them.
 */
export function createTimeSlicedQueue(sliceMs: number): TimeSlicedQueue {
  let queue: (() => void)[] = [];
  let isScheduled = false;

  const schedule = () => {
    isScheduled = true;
    setImmediate(runSlice);
  };
  const runSlice = () => {
    isScheduled = false;
    const end = performance.now() + sliceMs;
    let count = 0;
    do queue[count++]?.();
    while (count < queue.length && performance.now() < end);
    queue = queue.slice(count);
    if (queue.length > 0 && !isScheduled) schedule();
  };

  return {
    run: (operation) =>
      new Promise((resolve, reject) => {
        queue.push(() => {
          try {
            resolve(operation());
          } catch (error) {
            reject(error);
          }
        });
        if (!isScheduled) schedule();
      }),
    flush() {
      for (const operation of queue.splice(0)) operation();
    },
  };
}
