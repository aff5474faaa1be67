import type { Readable } from 'node:stream';
import { discardResponse } from '../../../core/egress/client/index.ts';
import type { Egress, GuardedResponse } from '../../../core/egress/index.ts';
import { EgressRefused, UpstreamError } from '../../../core/errors/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { type Track, untilAvailable } from '../../../core/state/index.ts';
import { classifyResponse, type Entity, type RequestedRange, type ResponseOutcome } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';
import { planHeaders, planRange, planRecovery, type RangePlan, type RangePolicy } from './request-plan.ts';
import { backOff, pauseAfterRefusal, type RetryState } from './retry-policy.ts';

/** An entity at a source: a file, a segment, a playlist, a key. */
export interface UpstreamTarget extends RangePolicy {
  /** Its current URL. */
  locate(signal: AbortSignal): Promise<Location>;
  /** Finds it again after its URL was refused. @throws UrlExpired, UpstreamError, NotFound when that is not possible */
  renew(location: Location, isGone: boolean, signal: AbortSignal): Promise<void>;
  /** What is known of it. Each response is checked against this, and adds to it. */
  entity: Entity;
}

export interface Location {
  readonly url: string;
  readonly track: Pick<Track, 'egress' | 'headers' | 'cookies' | 'urlExpiresAt' | 'availableAt'>;
  /** As `ResolvedLocation.generation`. */
  readonly generation: number;
}

export interface UpstreamRequestDependencies {
  readonly egress: Pick<Egress, 'request' | 'ownsIdentity'>;
  /** The egress identity that resolved the URLs, unless the track names its own: many sources bind URLs to an address. */
  readonly identity: string;
  readonly limits: SourceLimits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Called when the source reports overload. */
  readonly onOverload?: (() => void) | undefined;
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

/** The source refuses the requested range; another range of the entity may exist. */
export class RangeRefused extends UpstreamError {}

export type FetchRangeOptions = UpstreamRequestDependencies & {
  readonly target: UpstreamTarget;
  readonly retryState: RetryState;
};

/**
 * Requests a range until the source answers with its first bytes: plan, send, classify, and retry where that may help.
 * @throws UpstreamError (RangeRefused among them), UrlExpired, NotFound, EgressRefused
 */
export async function fetchRange(
  options: FetchRangeOptions,
  requested: RequestedRange,
  signal: AbortSignal,
): Promise<UpstreamBody> {
  const { target, limits, now } = options;
  const waiting = { maxWaitMs: limits.maxAvailabilityWaitMs, now, signal };
  let retryWithRange = false;
  /** Unexplained 403 responses for the present URL. */
  let refusals = 0;
  const isExplained = (location: Location) =>
    mayHaveExpired(location, now()) || !options.egress.ownsIdentity(location.track.egress ?? options.identity);
  for (;;) {
    const location = await target.locate(signal);
    await untilAvailable(location.track, waiting);
    const plan = planRange(requested, target, retryWithRange);
    const response = await send(options, location, plan.range, signal);
    if (response instanceof UpstreamError) {
      await backOff(options, response, signal);
      continue;
    }
    const outcome = classifyResponse(response, plan.range, target.entity);
    if (outcome.kind === 'bytes') {
      const { rangeRequirement } = target;
      if (retryWithRange && rangeRequirement && response.status === 206) rangeRequirement.isRequired = true;
      return accept(target, plan, response, outcome);
    }

    discardResponse(response);
    switch (outcome.kind) {
      case 'retry':
        if (outcome.isOverload) options.onOverload?.();
        await backOff(options, new UpstreamError(outcome.reason), signal, outcome.retryAfter);
        break;
      case 'expired':
      case 'refused': {
        const recovery = planRecovery(plan, target, retryWithRange, response.status);
        if (recovery === 'smaller-range') break;
        retryWithRange = recovery === 'with-range';
        if (retryWithRange) break;
        if (outcome.kind === 'refused') throw refusal(outcome.total, target.entity);
        if (response.status === 403 && refusals < limits.maxRefusals && !isExplained(location)) {
          refusals += 1;
          await pauseAfterRefusal(refusals, limits, signal);
          break;
        }
        refusals = 0;
        await target.renew(location, outcome.isGone, signal);
        break;
      }
      case 'changed':
        throw entityChanged();
      case 'unusable':
        throw new UpstreamError(outcome.reason);
    }
  }
}

/** A URL that states no expiry may have expired, unless it was resolved for this stream, or not long ago. */
const mayHaveExpired = ({ track, generation }: Location, now: number): boolean =>
  track.urlExpiresAt === undefined
    ? generation === 0 && track.availableAt === undefined
    : track.urlExpiresAt * 1000 <= now;

/** The entity is not the one whose first bytes were read: joining both would corrupt the stream. */
export const entityChanged = (): UpstreamError => new UpstreamError('Upstream entity has changed');

/**
 * Sends one request.
 * @returns the response, or the failure of a request that may be retried
 * @throws EgressRefused, UpstreamError when retrying cannot help
 */
async function send(
  { egress, identity, limits }: UpstreamRequestDependencies,
  { url, track }: Location,
  range: RequestedRange,
  signal: AbortSignal,
): Promise<GuardedResponse | UpstreamError> {
  try {
    const headersFor = planHeaders(url, track, range);
    const { stallTimeoutMs } = limits;
    return await egress.request(url, { headersFor, identity: track.egress ?? identity, stallTimeoutMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UpstreamError) return error;
    throw error instanceof EgressRefused ? error : new UpstreamError('Request could not be sent', { cause: error });
  }
}

function accept(
  target: UpstreamTarget,
  { range, chunks }: RangePlan,
  { url, status, headers, body }: GuardedResponse,
  { skip, length, entity }: Extract<ResponseOutcome, { kind: 'bytes' }>,
): UpstreamBody {
  target.entity = entity;
  const isRange = range.last !== undefined;
  if (skip === 0 && length !== undefined && isRange) chunks?.granted(length);
  const isSelfDelimited =
    status === 206 ||
    headers['content-length'] !== undefined ||
    /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');
  return { url, isFullResponse: status === 200 && isRange, headers, body, skip, length, isSelfDelimited };
}

const refusal = (total: number | undefined, { size }: Entity): UpstreamError =>
  total !== undefined && size !== undefined && total !== size
    ? entityChanged()
    : new RangeRefused('Upstream refuses the range');
