import type { Readable } from 'node:stream';
import type { Egress, GuardedResponse } from '../../core/egress/index.ts';
import { EgressRefused, UpstreamError, UrlExpired } from '../../core/errors/index.ts';
import { formatRange, requestHeaders } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Track } from '../../core/state/index.ts';
import { type Entity, type RequestedRange, type ResponseOutcome, unknownEntity } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';
import type { RangePlan, RangePolicy } from './range-plan.ts';

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

/** A target that is at one location only: when it is refused there, the track itself must be resolved again. */
export const fixedTarget = (location: Location, policy: RangePolicy = {}): UpstreamTarget => ({
  ...policy,
  locate: async () => location,
  async renew(_location, isGone) {
    throw new UrlExpired(isGone);
  },
  entity: unknownEntity,
});

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

/** Headers of a track that the reader of ranges sets itself. */
const OWN_HEADERS = /^(if-)?range$|^accept-encoding$/i;

/**
 * The headers of a request, by the URL of each redirect hop. The headers of the track are also sent to segments on other
 * hosts than the playlist, as players do: the source itself named them.
 */
export function planHeaders(
  url: string,
  { headers, cookies }: Pick<Track, 'headers' | 'cookies'>,
  { first, last }: RequestedRange,
): (hop: URL) => Record<string, string> {
  const trackHeaders = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name)));
  const headersFor = requestHeaders({ url, headers: trackHeaders, cookies });
  const range: Record<string, string> = last === undefined ? {} : { range: formatRange({ first, last }) };
  return (hop) => ({ ...headersFor(hop), 'accept-encoding': 'identity', ...range });
}

/**
 * Sends one request.
 * @returns the response, or the failure of a request that may be retried
 * @throws EgressRefused, UpstreamError when retrying cannot help
 */
export async function sendRequest(
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
export function acceptBody(
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
