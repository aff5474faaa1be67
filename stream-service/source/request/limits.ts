import { memoryShares } from '../../../core/config/index.ts';
import { MAX_AVAILABILITY_WAIT_MS } from '../../../core/state/index.ts';
import type { ChunkLimits } from './request-plan.ts';
import type { RetryLimits } from './retry-policy.ts';

/** Limits on the resources and time that reading one source may use. */
export interface SourceLimits extends ChunkLimits, RetryLimits {
  /** Bytes of the first range of a read, at most. Each further one is at most as large as all before it together. */
  readonly firstChunkBytes: number;
  /** Bytes buffered ahead of the client, per stream. */
  readonly readAheadBytes: number;
  /** Bytes buffered ahead of clients by all streams together. Beyond this, each stream requests one range at a time. */
  readonly totalReadAheadBytes: number;
  /** Concurrent connections per stream, to a source that throttles each connection. */
  readonly maxConnections: number;
  /** Milliseconds without a byte after which a connection is closed. */
  readonly stallTimeoutMs: number;
  /** Consecutive times that expired URLs are resolved again, without progress in between. */
  readonly maxRenewals: number;
  /** Longest wait for a track that its source serves only from a moment on. */
  readonly maxAvailabilityWaitMs: number;
  /** Milliseconds for which an open source keeps its first bytes for a reader. */
  readonly unreadTimeoutMs: number;
  readonly maxPlaylistBytes: number;
  readonly maxSegments: number;
  /** Milliseconds between two reloads of a live playlist, at least. */
  readonly minReloadMs: number;
  /** Milliseconds without a new segment after which a live stream fails. */
  readonly liveStallTimeoutMs: number;
}

const MiB = 1024 * 1024;

export const defaultLimits: SourceLimits = {
  defaultChunkBytes: 8 * MiB,
  minChunkBytes: MiB,
  firstChunkBytes: MiB / 4,
  readAheadBytes: 8 * MiB,
  totalReadAheadBytes: memoryShares().readAheadBytes,
  maxConnections: 4,
  stallTimeoutMs: 10_000,
  maxAttempts: 6,
  initialBackoffMs: 200,
  maxBackoffMs: 5_000,
  maxRetryAfterMs: 15_000,
  maxRefusals: 2,
  maxRenewals: 2,
  maxAvailabilityWaitMs: MAX_AVAILABILITY_WAIT_MS,
  unreadTimeoutMs: 30_000,
  maxPlaylistBytes: 8 * MiB,
  maxSegments: 100_000,
  minReloadMs: 1_000,
  liveStallTimeoutMs: 60_000,
};
