import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRetryDelay } from '@reelay/concurrency';
import { appendChunk, DIRECT, discardResponse, type GuardedResponse } from '@reelay/guarded-fetch';
import { UpstreamError } from './errors.ts';
import type { SourceLimits } from './limits.ts';
import { untilAvailable } from './track.ts';
import {
  classifyResponse,
  type Location,
  planRange,
  planRecovery,
  type RangePlan,
  type Recovery,
  type RequestedRange,
  type ResponseOutcome,
  sendRequest,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
} from './upstream-request.ts';

export type AttemptOptions = UpstreamRequestDependencies & { readonly target: UpstreamTarget };

/** Bytes that count as progress: without a minimum, a source that sends one byte per connection is retried forever. */
const PROGRESS_BYTES = 16 * 1024;

/** A source that ignores Range sends these before what is compared. */
const MAX_SKIPPED_BYTES = 1024 * 1024;

// Stryker disable all: the class sends requests, so that its tests need servers, which mutation testing does not start.
/**
 * The attempts of a read: when a request is repeated, when its URL is renewed first, and when reading fails.
 *
 * One attempt is one request for the bytes that are missing, and the reading of its body. Before it, a URL whose stated
 * expiry has passed is renewed, and the moment from which the source serves the track is waited for. Bytes that have
 * arrived are kept: the next attempt continues at the byte after them. What follows an attempt that fails:
 *
 * | the attempt ended with | the next attempt |
 * |---|---|
 * | no response, a body that broke off, 408, 425, 429, 5xx, a contradictory 206 | after a delay that doubles, not before Retry-After; the read fails after `maxAttempts` of these without `PROGRESS_BYTES` in between |
 * | a refusal that may be about the range | at once, with a smaller range or with a Range header |
 * | a 403 that nothing explains | after a delay that grows, `maxRefusals` times for one URL, then as in the next row |
 * | 401, 403, 404, 410 | at once, with a renewed URL; the read fails after `maxRenewals` of these without a byte in between |
 * | another validator at the same size | at once, if bytes that were read before are the same: validators are ignored from then on |
 * | a range without the size of the whole | at once, and from then on, without Range |
 * | another entity, an encoding, a refused range | none: the read fails |
 */
export class Attempts {
  readonly #options: AttemptOptions;
  #state: RetryState = initialRetryState;
  #progressBytes = 0;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  /**
   * Requests a range until the source answers with its first bytes.
   * @throws UpstreamError (RangeRefused among them), UrlExpired, EgressRefused, and what `renew` of the track throws
   */
  async request(requested: RequestedRange, signal: AbortSignal): Promise<UpstreamBody> {
    const { target, limits, now, onOverload } = this.#options;
    for (;;) {
      const location = await target.locate(signal);
      await untilAvailable(location.track, { maxWaitMs: limits.maxAvailabilityWaitMs, now, signal });
      const plan = planRange(requested, target, this.#state.isRangeRequired);
      const sent = target.isWithoutRanges ? { ...plan.range, last: undefined } : plan.range;
      const response = await sendRequest(this.#options, location, sent, signal);
      if (response instanceof UpstreamError) {
        await this.retry(response, signal);
        continue;
      }
      const outcome = classifyResponse(response, plan.range, target.entity);
      if (outcome.kind === 'bytes') {
        const { rangeRequirement } = target;
        if (this.#state.isRangeRequired && rangeRequirement && response.status === 206)
          rangeRequirement.isRequired = true;
        this.#state = { ...initialRetryState, failures: this.#state.failures };
        return acceptBody(target, plan, response, outcome);
      }
      discardResponse(response);
      if (outcome.kind === 'doubtful') {
        await this.#compareReplica(location, outcome.error, signal);
        continue;
      }
      if (outcome.kind === 'unsized' && !target.isWithoutRanges) {
        target.isWithoutRanges = true;
        continue;
      }
      if (outcome.kind === 'retry' && outcome.isOverload) onOverload?.();
      const isRefusal = outcome.kind === 'expired' || outcome.kind === 'refused';
      const recovery = isRefusal ? planRecovery(plan, target, this.#state.isRangeRequired, response.status) : undefined;
      const context = { limits, now: now(), recovery, isExplained: this.#isExplained(location) };
      const step = planNextAttempt(this.#state, outcome, context);
      await this.#take(step, signal);
      if (step.kind === 'renew') await target.renew(location, step.isGone, signal);
    }
  }

  /**
   * Waits for the next attempt after one that brought no response, or whose body broke off.
   * @throws UpstreamError the failure itself, when there have been too many
   */
  async retry(error: UpstreamError, signal: AbortSignal): Promise<void> {
    const { limits, now } = this.#options;
    await this.#take(planNextAttempt(this.#state, { kind: 'retry', error }, { limits, now: now() }), signal);
  }

  /**
   * Reads some bytes again that were read before.
   * @throws UpstreamError when they differ, or cannot be read
   */
  async #compareReplica(location: Location, changed: UpstreamError, signal: AbortSignal): Promise<void> {
    const { target } = this.#options;
    const { sample } = target.seen;
    if (!sample) throw changed;
    const { size } = target.entity;
    const entity = { size, etag: undefined, lastModified: undefined, hasReplicas: true } as const;
    const range = { first: sample.first, last: sample.first + sample.bytes.length - 1 };
    const response = await sendRequest(this.#options, location, range, signal);
    if (response instanceof UpstreamError) return this.retry(response, signal);
    const outcome = classifyResponse(response, range, entity);
    if (outcome.kind !== 'bytes' || outcome.skip > MAX_SKIPPED_BYTES) {
      discardResponse(response);
      if (outcome.kind === 'retry') return this.retry(outcome.error, signal);
      throw changed;
    }
    const end = outcome.skip + sample.bytes.length;
    const found = await readStart(response.body, end).catch(() => undefined);
    signal.throwIfAborted();
    if (!found || found.length < end) return this.retry(new UpstreamError('Upstream response failed'), signal);
    if (!found.subarray(outcome.skip).equals(sample.bytes)) throw changed;
    target.entity = entity;
  }

  /** Counts bytes that have arrived: enough of them, or the last one, cancel the failures before. */
  addProgress(bytes: number, isComplete: boolean): void {
    this.#progressBytes += bytes;
    if (this.#progressBytes < PROGRESS_BYTES && !isComplete) return;
    this.#progressBytes = 0;
    if (this.#state.failures > 0) this.#state = { ...this.#state, failures: 0 };
  }

  async #take(step: NextStep, signal: AbortSignal): Promise<void> {
    if (step.kind === 'fail') throw step.error;
    this.#state = step.state;
    if (step.kind === 'renew') return;
    const { delayMs, reason, state } = step;
    if (reason) this.#options.log.info('Retrying upstream request', { attempt: state.failures + 1, delayMs, reason });
    if (delayMs > 0) await sleep(delayMs, undefined, { signal });
  }

  /** Whether a 403 may mean that the URL has expired, or that it belongs to an address that this process does not have. */
  #isExplained({ track, generation }: Location): boolean {
    const { egress, now } = this.#options;
    // A URL that states no expiry may have expired, unless it was resolved for this stream, or not long ago.
    const mayHaveExpired =
      track.urlExpiresAt === undefined
        ? generation === 0 && track.availableAt === undefined
        : track.urlExpiresAt * 1000 <= now();
    return mayHaveExpired || egress.ownsIdentity?.(track.egress ?? DIRECT) === false;
  }
}

/** At most `bytes` of a body, which is closed. */
async function readStart(body: Readable, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    appendChunk(chunks, chunk);
    length += chunk.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(chunks).subarray(0, bytes);
}

/** A response body: the first `skip` bytes precede the requested range; then `length` follow, or all until the end. */
export interface UpstreamBody {
  /** URL after redirects. */
  readonly url: string;
  /** The source answered a range request with the whole entity. */
  readonly isFullResponse: boolean;
  readonly headers: GuardedResponse['headers'];
  readonly body: Readable;
  readonly skip: number;
  readonly length: number | undefined;
  /** False: the body ends when the connection closes, so that truncation goes unnoticed (RFC 9112 §6.3). */
  readonly isSelfDelimited: boolean;
}

/** Adds what a response tells of its entity to the target, and what it tells of ranges to their sizes. */
function acceptBody(
  target: UpstreamTarget,
  { range, chunks }: RangePlan,
  { url, status, headers, body }: GuardedResponse,
  { skip, length, entity }: Extract<ResponseOutcome, { kind: 'bytes' }>,
): UpstreamBody {
  target.entity = entity;
  const isRange = range.last !== undefined;
  if (skip === 0 && length !== undefined && isRange) chunks?.addGranted(length);
  const isSelfDelimited =
    status === 206 ||
    headers['content-length'] !== undefined ||
    /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');
  return { url, isFullResponse: status === 200 && isRange, headers, body, skip, length, isSelfDelimited };
}

// Stryker restore all
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
  /** The 403 has a known cause: the request did not merely come too early. */
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
