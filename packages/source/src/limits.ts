import { MAX_AVAILABILITY_WAIT_MS } from './track.ts';

const MiB = 1024 * 1024;

/** Limits on the resources and time that reading one source may use. */
export interface SourceLimits extends Readonly<typeof defaultLimits> {}

export const defaultLimits = {
  /** Bytes of a range when the format does not specify a maximum. */
  defaultChunkBytes: 8 * MiB,
  /** Bytes below which a refusal is not about the size. */
  minChunkBytes: MiB,
  /** Bytes of the first range of a read, at most. Each further one is at most as large as all before it together. */
  firstChunkBytes: MiB / 4,
  /** Bytes buffered ahead of the client, per stream. */
  readAheadBytes: 8 * MiB,
  /** Bytes buffered ahead of clients by all streams together. Beyond this, each stream requests one range at a time. */
  totalReadAheadBytes: 64 * MiB,
  /** Bytes of segments of lists that all streams together use. One client may use half. */
  totalSegmentBytes: 64 * MiB,
  /** Concurrent connections per stream, to a source that throttles each connection. */
  maxConnections: 4,
  /** Milliseconds without a byte after which a connection is closed. */
  stallTimeoutMs: 10_000,
  /** Consecutive failed attempts, without progress in between, after which reading fails. */
  maxAttempts: 6,
  /** Delay after the first failure; doubled after each further one, up to `maxBackoffMs`. */
  initialBackoffMs: 200,
  maxBackoffMs: 5_000,
  /** A longer Retry-After is cut to this. */
  maxRetryAfterMs: 15_000,
  /** How often a URL that nothing shows to have expired is requested again after a 403, before it is renewed. */
  maxRefusals: 2,
  /** Consecutive times that expired URLs are resolved again, without progress in between. */
  maxRenewals: 2,
  /** Longest wait for a track that its source serves only from a moment on. */
  maxAvailabilityWaitMs: MAX_AVAILABILITY_WAIT_MS,
  /** Milliseconds for which a stream waits until it is known how long it is; then it begins without length. */
  maxTableWaitMs: 5_000,
  /** Milliseconds for which an open source keeps its first bytes for a reader. */
  unreadTimeoutMs: 30_000,
  maxPlaylistBytes: 8 * MiB,
  maxSegments: 100_000,
  /** Milliseconds between two reloads of a live playlist, at least. */
  minReloadMs: 1_000,
  /** Milliseconds without a new segment after which a live stream fails. */
  liveStallTimeoutMs: 60_000,
};

/** The limits of a read that only inspects: it waits for nothing that is not served at once. */
export const peekLimits = (limits: SourceLimits): SourceLimits => ({
  ...limits,
  maxAvailabilityWaitMs: 0,
  maxRefusals: 0,
});

/** The limits of a read of one attempt. */
export const singleAttemptLimits = (limits: SourceLimits): SourceLimits => ({
  ...peekLimits(limits),
  maxAttempts: 1,
  maxRenewals: 0,
});

/** The limits of a probe of later bytes: sources that stop refuse them, so that a refusal is not repeated. */
export const probeLimits = (limits: SourceLimits): SourceLimits => ({
  ...limits,
  maxAttempts: Math.min(limits.maxAttempts, 2),
  maxRefusals: 0,
  stallTimeoutMs: Math.min(limits.stallTimeoutMs, 5_000),
});
