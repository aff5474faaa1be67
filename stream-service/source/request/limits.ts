import type { ChunkLimits } from './chunk-sizer.ts';
import type { RetryLimits } from './retry-policy.ts';

/** What reading one source may cost. */
export interface SourceLimits extends ChunkLimits, RetryLimits {
  /** Bytes held ahead of the client, per stream. */
  readonly aheadBytes: number;
  /** The same for all streams together: beyond, each reads one range at a time. */
  readonly aheadBytesInAll: number;
  /** Connections at once, per stream, to a source that throttles each. */
  readonly connections: number;
  /** Milliseconds without a byte before a connection is given up. */
  readonly stallTimeout: number;
  /** Resolves again in a row, without progress in between. */
  readonly renewals: number;
  /** Milliseconds for which the bytes of an opening wait for their first reader. */
  readonly holdTimeout: number;
  /** Bytes of a playlist. */
  readonly playlistBytes: number;
  /** Segments of a playlist. */
  readonly segments: number;
  /** The shortest wait between two looks at a live playlist, milliseconds. */
  readonly minReload: number;
  /** Milliseconds without a new segment after which a live source has ended badly. */
  readonly liveStall: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: SourceLimits = {
  chunkBytes: 8 * MiB,
  minChunkBytes: MiB,
  aheadBytes: 8 * MiB,
  aheadBytesInAll: 64 * MiB,
  connections: 4,
  stallTimeout: 10_000,
  attempts: 6,
  backoff: 200,
  maxBackoff: 5_000,
  maxRetryAfter: 15_000,
  renewals: 3,
  holdTimeout: 30_000,
  playlistBytes: 8 * MiB,
  segments: 100_000,
  minReload: 1_000,
  liveStall: 60_000,
};
