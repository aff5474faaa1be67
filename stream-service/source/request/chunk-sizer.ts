/** How many bytes to ask of a source at once. One per source: what it refused once, it refuses again. */
export interface ChunkSizer {
  /** Bytes to ask for at most. */
  limit(): number;
  /** The next chunk, in bytes: small at first, so that its bytes are soon here, then more as they come fast. */
  next(): number;
  /** Notes that the source gave a range of so many bytes. */
  granted(bytes: number): void;
  /** Notes for how many milliseconds a chunk was waited for, without those in which nobody wanted it. */
  took(bytes: number, elapsed: number): void;
  /** Notes that it refused one. True: a smaller one is worth asking for. */
  refused(bytes: number): boolean;
}

export interface ChunkLimits {
  /** Bytes of a chunk when the format does not say. */
  readonly chunkBytes: number;
  /** Bytes below which a refusal is not about the size. */
  readonly minChunkBytes: number;
}

/** No chunk is larger, whatever the format allows: a range is also what a change of mind costs. */
const LARGEST = 16 * 1024 * 1024;
/** A chunk that came within this many milliseconds may be larger the next time. */
const SOON = 200;

/** @param allowed the largest range the format gives (`Track.chunkBytes`) */
export function createChunkSizer({ chunkBytes, minChunkBytes }: ChunkLimits, allowed = chunkBytes): ChunkSizer {
  let limit = Math.min(Math.max(allowed, 1), LARGEST);
  let size = Math.min(minChunkBytes, limit);
  let proven = 0;
  return {
    limit: () => limit,
    next: () => Math.min(size, limit),
    granted(bytes) {
      proven = Math.max(proven, bytes);
    },
    took(bytes, elapsed) {
      if (bytes >= size && elapsed < SOON) size = Math.min(size * 2, limit);
    },
    refused(bytes) {
      if (bytes <= Math.max(proven, minChunkBytes)) return false;
      limit = Math.max(Math.floor(Math.min(bytes, limit) / 2), minChunkBytes);
      return true;
    },
  };
}
