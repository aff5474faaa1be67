import type { Readable } from 'node:stream';
import type { GuardedFetch, GuardedResponse } from '@reelay/guarded-fetch';
import { type Entity, type RequestedRange, type ResponseOutcome, unknownEntity } from './classify-response.ts';
import { EgressRefused, UpstreamError, UrlExpired } from './errors.ts';
import type { SourceLimits } from './limits.ts';
import { formatRange, requestHeaders } from './request-headers.ts';
import type { SourceTrack } from './track.ts';

/** Whether a source refuses requests without a Range header. Shared by all files of one source, e.g. HLS segments. */
export interface RangeRequirement {
  isRequired: boolean;
  /** Sizes the ranges: some of these sources refuse open-ended ranges, too. */
  readonly chunks: ChunkSizer;
}

/** How the entity is requested. */
export interface RangePolicy {
  /** Sizes the ranges of an entity that is read in ranges; absent: one request for everything needed. */
  readonly chunks?: ChunkSizer;
  /** Absent: the entity is always requested by ranges. */
  readonly rangeRequirement?: RangeRequirement;
}

/** The range of the next request. */
export interface RangePlan {
  readonly range: RequestedRange;
  /** Sized the range, and adapts to the response. */
  readonly chunks: ChunkSizer | undefined;
}

/**
 * Plans the next request for a range.
 * @param isRangeRequired the source refused the same request without a Range header. The range is small then: a source
 *   that refuses it refuses any.
 */
export function planRange(
  requested: RequestedRange,
  { chunks: ownChunks, rangeRequirement }: RangePolicy,
  isRangeRequired: boolean,
): RangePlan {
  const chunks = ownChunks ?? (isRangeRequired || rangeRequirement?.isRequired ? rangeRequirement?.chunks : undefined);
  const { first, last } = requested;
  // A whole entity that is read in ranges has no known end yet: its size decides.
  if (!chunks || (last === undefined && ownChunks)) return { range: requested, chunks };
  const end = first + (isRangeRequired ? chunks.next : chunks.limit) - 1;
  return { range: { ...requested, last: Math.min(last ?? end, end) }, chunks };
}

/** Another range to try after the source has refused a request or its URL. */
export type Recovery = 'smaller-range' | 'with-range';

/** Statuses that a missing Range header cannot explain: no permission, or nothing there. */
const UNRELATED_TO_RANGE = new Set([401, 404, 410]);

/**
 * @param status of the response
 * @returns undefined when no other range may help
 */
export function planRecovery(
  { range: { first, last }, chunks }: RangePlan,
  { rangeRequirement }: RangePolicy,
  isRangeRequired: boolean,
  status: number,
): Recovery | undefined {
  if (last !== undefined && chunks?.reduce(last - first + 1)) return 'smaller-range';
  const mayWantRange = !isRangeRequired && rangeRequirement && last === undefined && !UNRELATED_TO_RANGE.has(status);
  return mayWantRange ? 'with-range' : undefined;
}

/** Upper bound, whatever the format allows: what was requested and is then not needed is wasted. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;
/** Chunks that arrive faster than this are doubled. */
const FAST_CHUNK_MS = 200;

/** Adapts the size of range requests to one source. Shared by its readers: a size refused once will be refused again. */
export class ChunkSizer {
  readonly #minBytes: number;
  #limit: number;
  #size: number;
  #largestGranted = 0;

  /** @param maxBytes the largest range that the format allows (`Track.chunkBytes`) */
  constructor(
    { defaultChunkBytes, minChunkBytes }: Pick<SourceLimits, 'defaultChunkBytes' | 'minChunkBytes'>,
    maxBytes = defaultChunkBytes,
  ) {
    this.#minBytes = minChunkBytes;
    this.#limit = Math.min(Math.max(maxBytes, 1), MAX_CHUNK_BYTES);
    this.#size = Math.min(minChunkBytes, this.#limit);
  }

  /** Bytes of the largest range to request. */
  get limit(): number {
    return this.#limit;
  }

  /** Bytes of the next range: small at first, for a fast first byte; growing while ranges arrive quickly. */
  get next(): number {
    return Math.min(this.#size, this.#limit);
  }

  /** Notes that the source answered a range of this many bytes. */
  addGranted(bytes: number): void {
    this.#largestGranted = Math.max(this.#largestGranted, bytes);
  }

  /** Notes how long a range took, excluding the time in which the client read nothing. */
  addTiming(bytes: number, elapsedMs: number): void {
    if (bytes >= this.#size && elapsedMs < FAST_CHUNK_MS) this.#size = Math.min(this.#size * 2, this.#limit);
  }

  /** Notes that the source refused a range. Returns whether a smaller range is worth requesting. */
  reduce(refusedBytes: number): boolean {
    if (refusedBytes <= Math.max(this.#largestGranted, this.#minBytes)) return false;
    this.#limit = Math.max(Math.floor(Math.min(refusedBytes, this.#limit) / 2), this.#minBytes);
    return true;
  }
}

/** That of a source of which nothing is known yet. */
export const createRangeRequirement = (limits: SourceLimits, { chunkBytes }: SourceTrack): RangeRequirement => ({
  isRequired: false,
  chunks: new ChunkSizer(limits, chunkBytes),
});

/** An entity at a source: a file, a segment, a playlist, a key. */
export interface UpstreamTarget extends RangePolicy {
  /** Its current URL. */
  locate(signal: AbortSignal): Promise<Location>;
  /** Finds it again after its URL was refused. @throws UrlExpired, and what `renew` of the track throws */
  renew(location: Location, isGone: boolean, signal: AbortSignal): Promise<void>;
  /** What is known of it. Each response is checked against this, and adds to it. */
  entity: Entity;
  /** Some of its bytes, as they were read last. */
  readonly seen: { sample?: SeenBytes | undefined };
  /** The source tells no size with a range: it is asked for all of it. */
  isWithoutRanges?: boolean;
}

export interface SeenBytes {
  /** Offset in the file. */
  readonly first: number;
  readonly bytes: Buffer;
}

export interface Location {
  readonly url: string;
  readonly track: SourceTrack;
  /** Counts renewals: a renewal requested for an earlier generation has been done already. */
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
  seen: {},
});

/** How requests are sent. */
export interface Egress extends Pick<GuardedFetch, 'request'> {
  /** Whether a route is one of this process, so that URLs that are bound to it may be requested. @default every one is */
  ownsIdentity?(identity: string): boolean;
}

/** Fields may hold errors, whose messages may have URLs. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface UpstreamRequestDependencies {
  readonly egress: Egress;
  readonly limits: SourceLimits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  /** Decodes what the source has compressed and sends whole. @default false */
  readonly isDecoded?: boolean;
  /** Called when the source reports overload. */
  readonly onOverload?: (() => void) | undefined;
}

/**
 * Validators of this process for files that have none at their source: one names the bytes that were seen of a file. It promises no more
 * than that some of them were there when the file was opened again.
 */
export interface OwnValidators {
  /**
   * @param target of the file, open, of a known size
   * @param isRangeless the source sends it whole alone
   */
  find(
    request: UpstreamRequestDependencies & Pick<Location, 'track'> & { readonly signal: AbortSignal },
    target: UpstreamTarget,
    isRangeless: boolean,
  ): Promise<string>;
}

/** Headers of a track that the reader of ranges sets itself. */
const OWN_HEADERS = /^(if-)?range$|^accept-encoding$/i;

/**
 * The headers of a request, by the URL of each redirect hop. The headers of the track are also sent to segments on other
 * hosts than the playlist, as players do: the source itself named them.
 */
export function planHeaders(
  url: string,
  { headers, cookies }: Pick<SourceTrack, 'headers' | 'cookies'>,
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
  { egress, limits, isDecoded = false }: UpstreamRequestDependencies,
  { url, track }: Location,
  range: RequestedRange,
  signal: AbortSignal,
): Promise<GuardedResponse | UpstreamError> {
  try {
    const headersFor = planHeaders(url, track, range);
    return await egress.request(url, {
      headersFor,
      identity: track.egress,
      stallTimeoutMs: limits.stallTimeoutMs,
      signal,
      isDecoded: isDecoded && range.last === undefined,
    });
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
