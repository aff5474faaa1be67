import { setTimeout as sleep } from 'node:timers/promises';

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
