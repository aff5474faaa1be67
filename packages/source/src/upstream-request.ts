import type { GuardedFetch, GuardedResponse } from '@reelay/guarded-fetch';
import { COMPRESSED, EgressRefused, UnsupportedRendition, UpstreamError, UrlExpired } from './errors.ts';
import type { SourceLimits } from './limits.ts';
import { parseContentRange, parseLength, parseUnsatisfiedRange, planHeaders } from './request-headers.ts';
import type { SourceTrack } from './track.ts';

// Stryker disable all: mutation testing starts no servers, which requests need. It covers `classifyResponse` below.

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
  /** Its 206 responses lack the total size, so it is requested without Range. */
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

// Stryker restore all

/** What is known of the entity behind a URL. It must not change while it is being read. */
export interface Entity {
  /** Bytes. */
  readonly size: number | undefined;
  /** Strong ETag, quotes included. */
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Servers of the source name it by validators of their own, which tell nothing then. @default false */
  readonly hasReplicas?: true;
}

export const unknownEntity: Entity = { size: undefined, etag: undefined, lastModified: undefined };

/** A byte range to request: offsets, both included. Without `last`: the whole entity, with no Range header. */
export interface RequestedRange {
  readonly first: number;
  readonly last: number | undefined;
  /** Whether the reader compares bytes that are sent again with those received before. @default false */
  readonly isCompared?: boolean;
}

/** What a response means for the request. */
export type ResponseOutcome =
  /** A body: skip `skip` bytes before the requested offset, then read `length` (undefined: to the end). */
  | { readonly kind: 'bytes'; readonly skip: number; readonly length: number | undefined; readonly entity: Entity }
  /** The URL may be invalid. `isGone`: the source does not know it; `isForbidden`: the source may serve it later. */
  | { readonly kind: 'expired'; readonly isGone: boolean; readonly isForbidden: boolean }
  /** The source does not send this range; it may send a smaller one. */
  | { readonly kind: 'refused'; readonly error: UpstreamError }
  /** A transient failure: send the request again after a delay. */
  | {
      readonly kind: 'retry';
      readonly error: UpstreamError;
      readonly isOverload?: boolean;
      readonly retryAfter?: string | undefined;
    }
  /** It has the size of the one read before and another validator: it may come from another server. */
  | { readonly kind: 'doubtful'; readonly error: UpstreamError }
  /** A range of an entity whose size the source does not tell: it may tell that of all of it. */
  | { readonly kind: 'unsized'; readonly error: UpstreamError }
  /** The entity differs from the one read before. */
  | { readonly kind: 'changed'; readonly error: UpstreamError }
  | { readonly kind: 'unusable'; readonly error: UpstreamError | UnsupportedRendition };

/** The source refuses the requested range; another range of the entity may exist. */
export class RangeRefused extends UpstreamError {}

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const EXPIRED_STATUSES = new Set([401, 403, 404, 410]);
const OVERLOAD_STATUSES = new Set([408, 425, 429]);

/** Classifies a response by its head, checked against the request and against what is known of the entity. */
export function classifyResponse(head: ResponseHead, requested: RequestedRange, known: Entity): ResponseOutcome {
  const { status, headers } = head;
  if (status === 206 || status === 200) {
    const coding = headers['content-encoding']?.trim().toLowerCase();
    // Offsets into an encoded representation are not offsets into the file (RFC 9110 §8.4, §14).
    if (coding && coding !== 'identity') return { kind: 'unusable', error: new UnsupportedRendition(COMPRESSED) };
    return status === 206 ? classifyPartial(headers, requested, known) : classifyFull(headers, requested, known);
  }
  if (EXPIRED_STATUSES.has(status))
    return { kind: 'expired', isGone: status === 404 || status === 410, isForbidden: status === 403 };
  if (status === 416) return refused(parseUnsatisfiedRange(headers['content-range']), known);
  const reason = `Upstream returned ${status}`;
  if (status >= 500 || OVERLOAD_STATUSES.has(status))
    return { ...retry(reason), isOverload: true, retryAfter: headers['retry-after'] };
  return status >= 400 ? refused(undefined, known) : unusable(reason);
}

/** 206 (RFC 9110 §15.3.7). */
function classifyPartial(headers: ResponseHead['headers'], requested: RequestedRange, known: Entity): ResponseOutcome {
  const range = parseContentRange(headers['content-range']);
  if (!range) return retry('206 without a valid Content-Range');
  if (range.first !== requested.first || range.last > (requested.last ?? Number.POSITIVE_INFINITY))
    return retry('206 with a range that was not requested');
  const length = range.last - range.first + 1;
  const contentLength = parseLength(headers['content-length']);
  if (contentLength !== undefined && contentLength !== length) return retry('Content-Length contradicts Content-Range');
  const entity = mergeEntity(known, entityOf(headers, range.total));
  if (typeof entity === 'string') return { kind: entity, error: entityChanged() };
  if (entity.size === undefined) return { kind: 'unsized', error: new UpstreamError('206 without a total size') };
  return { kind: 'bytes', skip: 0, length, entity };
}

/** 200: the whole entity, whatever was requested. */
function classifyFull(
  headers: ResponseHead['headers'],
  { first, last, isCompared }: RequestedRange,
  known: Entity,
): ResponseOutcome {
  const entity = mergeEntity(known, entityOf(headers, parseLength(headers['content-length'])));
  if (typeof entity === 'string') return { kind: entity, error: entityChanged() };
  // Skipping bytes that were sent before is only safe when they are known to be the same.
  if (first > 0 && known !== unknownEntity && !hasValidator(known) && !isCompared)
    return unusable('200 without a validator in response to a range request');
  const end = Math.min(last ?? Number.POSITIVE_INFINITY, (entity.size ?? Number.POSITIVE_INFINITY) - 1);
  if (end < first - 1) return refused(entity.size, known);
  return { kind: 'bytes', skip: first, length: Number.isFinite(end) ? end - first + 1 : undefined, entity };
}

const retry = (reason: string) => ({ kind: 'retry', error: new UpstreamError(reason) }) as const;
const unusable = (reason: string) => ({ kind: 'unusable', error: new UpstreamError(reason) }) as const;

/** @param total bytes of the entity, as the source says with its refusal */
const refused = (total: number | undefined, { size }: Entity): ResponseOutcome => ({
  kind: 'refused',
  error:
    total !== undefined && size !== undefined && total !== size
      ? entityChanged()
      : new RangeRefused('Upstream refuses the range'),
});

/** The entity is not the one whose first bytes were read: joining both would corrupt the stream. */
export const entityChanged = (): UpstreamError => new UpstreamError('Upstream entity has changed');

/** Whether a change of the entity would be noticed. */
export const hasValidator = ({ size, etag, lastModified }: Entity): boolean =>
  (size ?? etag ?? lastModified) !== undefined;

/** Combines both, unless they contradict each other. A missing value is not a contradiction. */
function mergeEntity(known: Entity, found: Entity): Entity | 'changed' | 'doubtful' {
  const differs = (key: keyof Entity) =>
    known[key] !== undefined && found[key] !== undefined && known[key] !== found[key];
  if (differs('size')) return 'changed';
  if (known.hasReplicas) return known;
  const contradiction = known.size !== undefined && found.size !== undefined ? 'doubtful' : 'changed';
  if (differs('etag')) return contradiction;
  // Replicas of one file often differ in Last-Modified: a strong ETag that agrees takes precedence.
  const isSameEtag = known.etag !== undefined && known.etag === found.etag;
  if (!isSameEtag && differs('lastModified')) return contradiction;
  return {
    size: known.size ?? found.size,
    etag: known.etag ?? found.etag,
    lastModified: known.lastModified ?? found.lastModified,
  };
}

function entityOf(headers: ResponseHead['headers'], size: number | undefined): Entity {
  const etag = headers.etag?.trim();
  return { size, etag: etag?.startsWith('"') ? etag : undefined, lastModified: headers['last-modified']?.trim() };
}
