/** Adapts the size of range requests to one source. Shared by its readers: a size refused once will be refused again. */
export interface ChunkSizer {
  /** Bytes of the largest range to request. */
  limit(): number;
  /** Bytes of the next range: small at first, for a fast first byte; growing while ranges arrive quickly. */
  next(): number;
  /** Notes that the source answered a range of so many bytes. */
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
