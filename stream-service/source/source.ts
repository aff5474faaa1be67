import type { Readable } from 'node:stream';
import type { Resource, Track } from '../../layers/state/index.ts';

/** One track, open for reading: a file with offsets, or a run of segments with times. */
export type Source = FileSource | SegmentedSource;

/** A direct file. */
export interface FileSource {
  readonly kind: 'file';
  /** Bytes, exact; undefined when the source does not say. */
  readonly size: number | undefined;
  /** The entity's own strong ETag or Last-Modified, where it has one: it must not change while we read. */
  readonly validator: string | undefined;
  /**
   * Reads from `first` to `last`, both included (`last` absent: to the end). The stream carries exactly these bytes or
   * is destroyed with an error: a drop, a stall or an expired URL in between is mended at the exact byte. Destroying it
   * ends every upstream request behind it.
   */
  read(first: number, last?: number): Readable;
}

/** HLS or DASH: an initialization section and segments, read one behind the other as one file. */
export interface SegmentedSource {
  readonly kind: 'segments';
  /** Seconds; undefined for a live source. */
  readonly durationSeconds: number | undefined;
  /**
   * The initialization section and every segment from the one that holds `seconds` on (live: from the newest ones on).
   * Exactly those bytes, or the stream is destroyed with an error: a segment that stays dead is never skipped.
   */
  readFrom(seconds: number): Readable;
}

export interface OpenSource {
  /**
   * Opens a track. Its first bytes have been seen when this settles.
   * @throws Problem 404 when the source is gone, 502 when it fails otherwise
   */
  (resource: Resource, track: Track, signal?: AbortSignal): Promise<Source>;
}
