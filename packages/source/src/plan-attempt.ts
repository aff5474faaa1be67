import { getRetryDelay } from '@reelay/concurrency';
import type { ResponseOutcome } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';
import type { Recovery } from './upstream-request.ts';

/** What the attempts of a read so far mean for the next one. */
export interface RetryState {
  /** Consecutive failures, without progress in between. */
  readonly failures: number;
  /** Unexplained 403 responses of the present URL. */
  readonly refusals: number;
  /** The source refused the same request without a Range header. */
  readonly isRangeRequired: boolean;
}

export const initialRetryState: RetryState = { failures: 0, refusals: 0, isRangeRequired: false };

export type FailedOutcome = Exclude<ResponseOutcome, { kind: 'bytes' | 'doubtful' }>;

export interface AttemptContext {
  readonly limits: RetryLimits;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Another range that may be served. */
  readonly recovery?: Recovery | undefined;
  /** Something else than a request that came too early explains a 403. */
  readonly isExplained?: boolean;
}

export type RetryLimits = Pick<
  SourceLimits,
  'maxAttempts' | 'initialBackoffMs' | 'maxBackoffMs' | 'maxRetryAfterMs' | 'maxRefusals'
>;

export type NextStep =
  /** `reason`: the failure, where it counts as one. */
  | { readonly kind: 'wait'; readonly delayMs: number; readonly reason?: string; readonly state: RetryState }
  | { readonly kind: 'renew'; readonly isGone: boolean; readonly state: RetryState }
  | { readonly kind: 'fail'; readonly error: Exclude<FailedOutcome, { kind: 'expired' }>['error'] };

/** Decides what follows an attempt that failed, by the table of `Attempts`. */
export function planNextAttempt(
  state: RetryState,
  outcome: FailedOutcome,
  { limits, now, recovery, isExplained }: AttemptContext,
): NextStep {
  if (outcome.kind === 'retry') {
    const failures = state.failures + 1;
    if (failures >= limits.maxAttempts) return { kind: 'fail', error: outcome.error };
    const retryAfterMs = Math.min(parseRetryAfter(outcome.retryAfter, now), limits.maxRetryAfterMs);
    const delayMs = Math.max(backoffMs(failures, limits), retryAfterMs);
    return { kind: 'wait', delayMs, reason: outcome.error.message, state: { ...state, failures } };
  }
  if (recovery)
    return { kind: 'wait', delayMs: 0, state: recovery === 'with-range' ? { ...state, isRangeRequired: true } : state };
  if (outcome.kind !== 'expired') return { kind: 'fail', error: outcome.error };
  const base = { ...state, isRangeRequired: false };
  if (outcome.isForbidden && state.refusals < limits.maxRefusals && !isExplained) {
    const refusals = state.refusals + 1;
    return { kind: 'wait', delayMs: backoffMs(refusals, limits), state: { ...base, refusals } };
  }
  return { kind: 'renew', isGone: outcome.isGone, state: { ...base, refusals: 0 } };
}

const backoffMs = (count: number, { initialBackoffMs, maxBackoffMs }: RetryLimits): number =>
  getRetryDelay(count, { initialDelayMs: initialBackoffMs, maxDelayMs: maxBackoffMs });

/** Milliseconds of a Retry-After header: seconds, or a date (RFC 9110 §10.2.3). */
function parseRetryAfter(retryAfter: string | undefined, now: number): number {
  if (!retryAfter) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const date = Date.parse(retryAfter);
  return Number.isNaN(date) ? 0 : Math.max(date - now, 0);
}

/** The limits of a read that only inspects: it waits for nothing that is not served at once. */
export const peekLimits = (limits: SourceLimits): SourceLimits => ({
  ...limits,
  maxAvailabilityWaitMs: 0,
  maxRefusals: 0,
});

/** The limits of a read of one attempt. */
export const singleAttemptLimits = (limits: SourceLimits): SourceLimits => ({
  ...peekLimits(limits),
  maxAttempts: 1,
  maxRenewals: 0,
});

/** The limits of a probe of later bytes: sources that stop refuse them, so that a refusal is not repeated. */
export const probeLimits = (limits: SourceLimits): SourceLimits => ({
  ...limits,
  maxAttempts: Math.min(limits.maxAttempts, 2),
  maxRefusals: 0,
  stallTimeoutMs: Math.min(limits.stallTimeoutMs, 5_000),
});
