import { setTimeout as sleep } from 'node:timers/promises';
import { getRetryDelay } from '../../../core/concurrency/index.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import type { Log } from '../../../core/log/index.ts';

/** How often and after how long a failed request is retried. */
export interface RetryLimits {
  /** Consecutive failures, without progress in between, after which reading fails. */
  readonly maxAttempts: number;
  /** Delay after the first failure; doubled after each further one, up to `maxBackoffMs`. */
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  /** A longer Retry-After is cut to this. */
  readonly maxRetryAfterMs: number;
  /** How often a URL that nothing shows to have expired is requested again after a 403, before it is renewed. */
  readonly maxRefusals: number;
}

/** Counts consecutive failures. The reader of the body resets it when there was progress. */
export interface RetryState {
  failures: number;
}

/** Bytes that reset the failure count: without a minimum, a source that sends one byte per connection is retried forever. */
export const PROGRESS_BYTES = 16 * 1024;

/**
 * Milliseconds to wait after a failure; undefined: give up.
 * @param failures consecutive ones, including this one
 * @param retryAfter the Retry-After header: seconds, or a date (RFC 9110 §10.2.3)
 * @param now epoch milliseconds
 */
export function retryDelayMs(
  failures: number,
  retryAfter: string | undefined,
  limits: RetryLimits,
  now: number,
): number | undefined {
  if (failures >= limits.maxAttempts) return undefined;
  const delayMs = getRetryDelay(failures, { initialDelayMs: limits.initialBackoffMs, maxDelayMs: limits.maxBackoffMs });
  return Math.max(delayMs, Math.min(parseRetryAfter(retryAfter, now), limits.maxRetryAfterMs));
}

function parseRetryAfter(retryAfter: string | undefined, now: number): number {
  if (!retryAfter) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.max(date - now, 0);
}

export interface BackOffOptions {
  readonly retryState: RetryState;
  readonly limits: RetryLimits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Counts a failure and waits before the next attempt.
 * @throws UpstreamError the failure itself, when there have been too many
 */
export async function backOff(
  { retryState, limits, now, log }: BackOffOptions,
  failure: UpstreamError,
  signal: AbortSignal,
  retryAfter?: string,
): Promise<void> {
  retryState.failures += 1;
  const delayMs = retryDelayMs(retryState.failures, retryAfter, limits, now());
  if (delayMs === undefined) throw failure;
  log.info('Retrying upstream request', { attempt: retryState.failures + 1, delayMs, reason: failure.message });
  await sleep(delayMs, undefined, { signal });
}

/** Waits before a refused URL is requested again; longer after each further refusal. */
export async function pauseAfterRefusal(
  refusals: number,
  { initialBackoffMs, maxBackoffMs }: RetryLimits,
  signal: AbortSignal,
): Promise<void> {
  const delayMs = getRetryDelay(refusals, { initialDelayMs: initialBackoffMs, maxDelayMs: maxBackoffMs });
  await sleep(delayMs, undefined, { signal });
}

/** The error of a failed body as an UpstreamError: a premature close, for one, is reported by Node itself. */
export const toUpstreamError = (error: Error): UpstreamError =>
  error instanceof UpstreamError ? error : new UpstreamError('Upstream response failed', { cause: error });
