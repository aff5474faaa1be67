import type { Readable } from 'node:stream';
import type { Resource, Track } from '../../core/state/index.ts';

/** What a source is read for. */
export type TrackSelection = 'all' | 'sound';

/** One track, open for reading: a file with offsets, or a run of segments with times. */
export type Source = FileSource | SegmentedSource;

/** A direct file. */
export interface FileSource {
  readonly kind: 'file';
  /** Bytes, exact; undefined when the source does not say: then only reading from 0 to the end is possible. */
  readonly size: number | undefined;
  /** The entity's own strong ETag or Last-Modified, where it has one: it must not change while we read. */
  readonly validator: string | undefined;
  /**
   * Reads from `first` to `last`, both included (`last` absent: to the end). The stream carries exactly these bytes or
   * is destroyed with an error: a drop, a stall or an expired URL in between is mended at the exact byte. Destroying it
   * ends every upstream request behind it. A chunk belongs to whoever takes it.
   */
  read(first: number, last?: number): Readable;
  /** Forgets the bytes kept from the opening, when no `read` will come for them. */
  close(): void;
}

/** HLS or DASH: an initialization section and segments, read one behind the other as one file. */
export interface SegmentedSource {
  readonly kind: 'segments';
  /** Seconds, as the playlist adds up; undefined for a live source, and where the playlist only knows whole seconds. */
  readonly durationSeconds: number | undefined;
  /** Seconds of the longest time for which the source says that it has nothing. @default 0 */
  readonly gapSeconds?: number;
  /** Whether its list says that clock or coding begin anew midway. A live source may do so all the same. @default false */
  readonly beginsAnew?: boolean;
  /**
   * The initialization section and every segment from the one that holds `seconds` on, past the end: from the last one,
   * in a gap: from the one before it (live: from the newest ones on, whatever `seconds` says).
   *
   * One file it stays where its clock or its initialization begins anew midway: MP4 fragments get times that go on, and
   * of initialization sections the first is given. Where what is wanted goes on in another coding the run breaks.
   */
  readFrom(seconds: number, wanted?: TrackSelection): SegmentRun;
  /** Forgets the bytes kept from the opening, when no `readFrom` will come for them. */
  close(): void;
}

/** Segments on their way. */
export interface SegmentRun {
  /**
   * Exactly those bytes, or it is destroyed with an error: a segment that stays dead is never skipped. Destroying it
   * ends every upstream request behind it.
   */
  readonly stream: Readable;
  /**
   * Where the first segment given starts, seconds on the playlist's own clock, which begins at 0 whatever the
   * timestamps inside the segments say. At most the `seconds` asked for; 0 when live.
   */
  readonly startSeconds: number;
}

/**
 * Opens a track. Its first bytes have been seen when this settles.
 * @param first where reading a file will probably begin: its opening then asks for that place, which saves a request
 * @throws Problem 404 when the source is gone, 502 when it fails otherwise
 */
export type OpenSource = (resource: Resource, track: Track, signal?: AbortSignal, first?: number) => Promise<Source>;
