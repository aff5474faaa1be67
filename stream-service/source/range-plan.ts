import type { RequestedRange } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';

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
