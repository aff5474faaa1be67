import { formatRange, requestHeaders } from '../../../core/http/index.ts';
import type { Track } from '../../../core/state/index.ts';
import type { RequestedRange } from './classify-response.ts';

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
 * @param retryWithRange the source refused the same request without a Range header. The range is small then: a source
 *   that refuses it refuses any.
 */
export function planRange(
  requested: RequestedRange,
  { chunks: ownChunks, rangeRequirement }: RangePolicy,
  retryWithRange: boolean,
): RangePlan {
  const chunks = ownChunks ?? (retryWithRange || rangeRequirement?.isRequired ? rangeRequirement?.chunks : undefined);
  const { first, last } = requested;
  // A whole entity that is read in ranges has no known end yet: its size decides.
  if (!chunks || (last === undefined && ownChunks)) return { range: requested, chunks };
  const end = first + (retryWithRange ? chunks.next() : chunks.limit()) - 1;
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
  { range, chunks }: RangePlan,
  { rangeRequirement }: RangePolicy,
  retryWithRange: boolean,
  status: number,
): Recovery | undefined {
  const { first, last } = range;
  if (last !== undefined && chunks?.refused(last - first + 1)) return 'smaller-range';
  const mayWantRange = !retryWithRange && rangeRequirement && last === undefined && !UNRELATED_TO_RANGE.has(status);
  return mayWantRange ? 'with-range' : undefined;
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

/** Adapts the size of range requests to one source. Shared by its readers: a size refused once will be refused again. */
export interface ChunkSizer {
  /** Bytes of the largest range to request. */
  limit(): number;
  /** Bytes of the next range: small at first, for a fast first byte; growing while ranges arrive quickly. */
  next(): number;
  /** Notes that the source answered a range of this many bytes. */
  granted(bytes: number): void;
  /** Notes how long a range took, excluding the time in which the client read nothing. */
  took(bytes: number, elapsedMs: number): void;
  /** Notes that the source refused a range. Returns whether a smaller range is worth requesting. */
  refused(bytes: number): boolean;
}

export interface ChunkLimits {
  /** Bytes of a range when the format does not specify a maximum. */
  readonly defaultChunkBytes: number;
  /** Bytes below which a refusal is not about the size. */
  readonly minChunkBytes: number;
}

/** Upper bound, whatever the format allows: what was requested and is then not needed is wasted. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;
/** Chunks that arrive faster than this are doubled. */
const FAST_CHUNK_MS = 200;

/** @param maxBytes the largest range that the format allows (`Track.chunkBytes`) */
export function createChunkSizer(
  { defaultChunkBytes, minChunkBytes }: ChunkLimits,
  maxBytes = defaultChunkBytes,
): ChunkSizer {
  let limit = Math.min(Math.max(maxBytes, 1), MAX_CHUNK_BYTES);
  let size = Math.min(minChunkBytes, limit);
  let largestGranted = 0;
  return {
    limit: () => limit,
    next: () => Math.min(size, limit),
    granted(bytes) {
      largestGranted = Math.max(largestGranted, bytes);
    },
    took(bytes, elapsedMs) {
      if (bytes >= size && elapsedMs < FAST_CHUNK_MS) size = Math.min(size * 2, limit);
    },
    refused(bytes) {
      if (bytes <= Math.max(largestGranted, minChunkBytes)) return false;
      limit = Math.max(Math.floor(Math.min(bytes, limit) / 2), minChunkBytes);
      return true;
    },
  };
}
