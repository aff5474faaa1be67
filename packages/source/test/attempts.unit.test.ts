import { describe, expect, it } from 'vitest';
import {
  type AttemptContext,
  type FailedOutcome,
  initialRetryState,
  planNextAttempt,
  type RetryLimits,
} from '../src/attempts.ts';
import { UpstreamError, UrlExpired } from '../src/errors.ts';
import { defaultLimits, peekLimits, probeLimits, singleAttemptLimits } from '../src/limits.ts';
import type { SourceTrack } from '../src/track.ts';
import { TrackLocator } from '../src/track-locator.ts';

const limits: RetryLimits = {
  maxAttempts: 4,
  initialBackoffMs: 100,
  maxBackoffMs: 250,
  maxRetryAfterMs: 5000,
  maxRefusals: 2,
};
const now = Date.parse('Fri, 21 Nov 2025 10:00:00 GMT');
const error = new UpstreamError('Failed');

describe('planNextAttempt', () => {
  const state = { ...initialRetryState, failures: 1 };
  const plan = (outcome: FailedOutcome, context: Partial<AttemptContext> = {}, changes: Partial<typeof state> = {}) =>
    planNextAttempt({ ...state, ...changes }, outcome, { limits, now, ...context });
  const forbidden = { kind: 'expired', isGone: false, isForbidden: true } as const;
  const gone = { kind: 'expired', isGone: true, isForbidden: false } as const;

  it.each([
    [1, undefined, 100],
    [2, undefined, 200],
    [3, undefined, 250],
    [4, undefined, undefined],
    [4, '1', undefined],
    [1, '2', 2000],
    [1, '0', 100],
    [1, '99999', 5000],
    [1, 'Fri, 21 Nov 2025 10:00:03 GMT', 3000],
    [1, 'Fri, 21 Nov 2025 09:00:00 GMT', 100],
    [1, 'soon', 100],
    [1, '-5', 100],
    [1, ' 3 ', 3000],
    [1, '04', 4000],
    [1, '1x', 100],
    [1, 'x1', 100],
  ])('after %d failures and Retry-After %j waits %j ms', (failures, retryAfter, delayMs) => {
    const step = plan({ kind: 'retry', error, retryAfter }, {}, { failures: failures - 1 });
    expect(step).toEqual(
      delayMs === undefined
        ? { kind: 'fail', error }
        : { kind: 'wait', delayMs, reason: 'Failed', state: { ...state, failures } },
    );
  });

  const refused = { kind: 'refused', error } as const;
  const waits = (delayMs: number, changes: Partial<typeof state> = {}) => ({
    kind: 'wait',
    delayMs,
    state: { ...state, ...changes },
  });
  const renews = (isGone: boolean) => ({ kind: 'renew', isGone, state });
  const fails = { kind: 'fail', error };

  it.each<[string, object, ...Parameters<typeof plan>]>([
    ['requests a smaller range at once', waits(0), forbidden, { recovery: 'smaller-range' }],
    ['requests with a Range header at once', waits(0, { isRangeRequired: true }), refused, { recovery: 'with-range' }],
    ['pauses after an unexplained 403', waits(100, { refusals: 1 }), forbidden, {}, { isRangeRequired: true }],
    ['pauses longer after the next one', waits(200, { refusals: 2 }), forbidden, {}, { refusals: 1 }],
    ['renews after the last one', renews(false), forbidden, {}, { refusals: 2 }],
    ['renews after an explained 403', renews(false), forbidden, { isExplained: true }],
    ['renews a URL that is gone', renews(true), gone, {}, { refusals: 1 }],
    ['fails when the range is refused', fails, refused],
    ['fails when the entity has changed', fails, { kind: 'changed', error }],
    ['fails when the response is unusable', fails, { kind: 'unusable', error }],
  ])('%s', (_, expected, ...planned) => expect(plan(...planned)).toEqual(expected));
});

describe('TrackLocator', () => {
  it('renews as often as is allowed without progress', async () => {
    const { signal } = new AbortController();
    const find = (): SourceTrack => ({
      url: 'https://a.example/',
      headers: {},
      cookies: [],
      renew: async () => find(),
    });
    const options = { track: find(), load: async () => undefined, limits: { maxRenewals: 2 }, now: () => 0 };
    const locator = new TrackLocator(options);
    const renew = async () => locator.renew((await locator.current(signal)).generation, false, signal);
    await renew();
    await renew();
    await expect(renew()).rejects.toThrow(UrlExpired);
    locator.addProgress();
    await renew();
    expect((await locator.current(signal)).generation).toBe(3);
  });
});

describe('limits of reads that inspect', () => {
  const generous = {
    ...defaultLimits,
    maxAttempts: 9,
    maxRenewals: 9,
    maxRefusals: 9,
    maxAvailabilityWaitMs: 9,
    stallTimeoutMs: 9000,
  };
  const impatient = { ...generous, maxRefusals: 0, maxAvailabilityWaitMs: 0 };

  it.each([
    ['wait for nothing that is not served at once', peekLimits, impatient],
    ['make one attempt', singleAttemptLimits, { ...impatient, maxAttempts: 1, maxRenewals: 0 }],
    [
      'of later bytes stop at a refusal or silence',
      probeLimits,
      { ...generous, maxRefusals: 0, maxAttempts: 2, stallTimeoutMs: 5000 },
    ],
  ])('%s', (_, limitsOf, expected) => expect(limitsOf(generous)).toEqual(expected));

  it('are never longer than those of any read', () =>
    expect(probeLimits({ ...generous, maxAttempts: 1, stallTimeoutMs: 70 })).toMatchObject({
      maxAttempts: 1,
      stallTimeoutMs: 70,
    }));
});
