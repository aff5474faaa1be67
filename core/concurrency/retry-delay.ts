export interface RetryDelayOptions {
  /** Milliseconds after the first failure; doubled after each further one. */
  readonly initialDelayMs: number;
  /** @default no limit */
  readonly maxDelayMs?: number;
}

/**
 * Exponential backoff.
 * @param failures consecutive ones, at least 1
 * @returns milliseconds to wait before the next attempt
 */
export const getRetryDelay = (
  failures: number,
  { initialDelayMs, maxDelayMs = Number.POSITIVE_INFINITY }: RetryDelayOptions,
): number => Math.min(initialDelayMs * 2 ** (failures - 1), maxDelayMs);
