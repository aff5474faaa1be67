/** How long the work of one caller may take, and whether it still waits. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Aborted when the caller leaves, and with a TimeoutError once the deadline has passed. */
export const deadlineSignal = ({ deadline, signal }: Deadline): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(deadline - Date.now())))]);

/** Waits for work no longer than the signal allows; what the work itself does then is its own affair. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
