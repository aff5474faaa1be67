import { getRetryDelay } from '../../../core/concurrency/index.ts';

/** How long a source is given. Milliseconds. */
export interface RetryLimits {
  /** Failures in a row, without progress in between, before it is given up. */
  readonly attempts: number;
  /** The first wait; each further one is twice as long, up to `maxBackoff`. */
  readonly backoff: number;
  readonly maxBackoff: number;
  /** The longest Retry-After that is waited for. */
  readonly maxRetryAfter: number;
}

/** Bytes that must come before a failure counts as the first one again: a source that drips must end some day. */
export const PROGRESS_BYTES = 16 * 1024;

/**
 * Milliseconds to wait after a failure; undefined: give up.
 * @param failures in a row, this one included
 * @param retryAfter as the source sent it: seconds, or a date (RFC 9110 §10.2.3)
 * @param now epoch milliseconds
 */
export function waitAfter(
  failures: number,
  retryAfter: string | undefined,
  limits: RetryLimits,
  now: number,
): number | undefined {
  if (failures >= limits.attempts) return undefined;
  const wait = getRetryDelay(failures, { initialDelayMs: limits.backoff, maxDelayMs: limits.maxBackoff });
  return Math.max(wait, Math.min(asked(retryAfter, now), limits.maxRetryAfter));
}

function asked(retryAfter: string | undefined, now: number): number {
  if (!retryAfter) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.max(date - now, 0);
}
