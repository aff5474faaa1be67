/** How long the work of one caller may take, and whether it still waits. */
export interface Bounds {
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Aborted when the caller leaves, and with a TimeoutError once the deadline has passed. */
export const inTime = ({ deadline, signal }: Bounds): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(Math.max(0, Math.ceil(deadline - Date.now())))]);
