import type { Readable } from 'node:stream';
import type { PredictedRange } from '@reelay/seekable-media/http';
import type { FragmentSource } from '@reelay/seekable-media/reading';
import type { Parse } from '@reelay/seekable-media/tasks';
import type { AvailabilityProbes } from './availability-probe.ts';
import type { EventLoopLoad, ReadAheadBudget } from './read-ahead.ts';
import type { SourceTrack } from './track.ts';
import type { Location, UpstreamRequestDependencies, UpstreamTarget } from './upstream-request.ts';

/** The tracks of a source that a reader uses. */
export type TrackSelection = 'all' | 'audio';

/**
 * One track, open for reading. Readers branch on the capabilities of a source (`size`, `needsRemux`), not on the protocol
 * that delivers it.
 */
export type Source = FileSource | SegmentedSource;

interface SourceCapabilities {
  /** Bytes, exact; undefined when the size is only known at the end. */
  readonly size: number | undefined;
  /** False: bytes that can be sent as they are, read by offset. True: segments for FFmpeg to remux, read from the beginning. */
  readonly needsRemux: boolean;
  /** Releases the bytes buffered while opening, when nothing will be read. */
  close(): void;
}

/** A file, read by byte offset. Without a size it can only be read from its beginning. */
export interface FileSource extends SourceCapabilities {
  readonly needsRemux: false;
  /** Strong ETag or Last-Modified of the upstream file, else one of this process. Absent without a size. Reading fails when it changes. */
  readonly validator: string | undefined;
  /** What it is made of, where it is a list of segments. Absent: a file. */
  readonly fragments?: FragmentSource;
  /** Bytes of its header, where it is made of a list: what follows costs requests for segments. Absent: not known. */
  readonly headerBytes?: number;
  /**
   * Reads from `first` to `last`, both included; without `last` to the end. The stream carries exactly these bytes or is
   * destroyed with an error: after a dropped or stalled connection or an expired URL it resumes at the next byte.
   * Destroying it aborts its upstream requests. The reader owns the chunks: their memory is not reused.
   */
  read(first: number, last?: number): Readable;
}

/** An HLS or DASH presentation: an initialization section and segments, concatenated. */
export interface SegmentedSource extends SourceCapabilities {
  readonly needsRemux: true;
  /** Sum of the segment durations, seconds; undefined when live, and where the list has only whole seconds. */
  readonly durationSeconds: number | undefined;
  /** Least duration of a complete copy, seconds: the sum of the segment durations, less the longest segment and their inexactness. */
  readonly minSeconds?: number | undefined;
  /** Seconds of the longest gap that the list declares. @default 0 */
  readonly gapSeconds?: number;
  /** Whether the list declares that timestamps or encoding change midway. Live sources may do so undeclared. @default false */
  readonly hasDiscontinuity?: boolean;
  /**
   * Reads the initialization section and every segment; live: from the newest segments on.
   *
   * The stream carries exactly the segments or is destroyed with an error: a missing segment is never skipped. It is one file even across discontinuities: timestamps of MP4 fragments are made continuous, and repeated
   * initialization sections are dropped. The stream fails where the encoding of a selected track changes: of a complete list,
   * before its first byte.
   */
  readAll(selection?: TrackSelection): Readable;
}

export interface OpenOptions {
  readonly signal?: AbortSignal;
  /** What will probably be read: requesting it while opening saves a request. @default everything */
  readonly range?: PredictedRange | undefined;
  /** Whose share of the memory for reading ahead the source uses. @default that of no client */
  readonly client?: string;
  /** The source is only inspected: nothing is waited for. @default false */
  readonly isPeek?: boolean;
}

/** Everything that opening one track needs. */
export interface OpenRequest extends UpstreamRequestDependencies {
  readonly track: SourceTrack;
  readonly parse: Parse;
  /** Whose share of parsing is used. */
  readonly client: string;
  /** What will probably be read; only for kinds that are read by offset. */
  readonly range: PredictedRange;
  readonly readAheadBudget: ReadAheadBudget;
  readonly eventLoopLoad: EventLoopLoad;
  readonly ownValidators: OwnValidators;
  /** Absent: the source is only inspected. */
  readonly probes: AvailabilityProbes | undefined;
  readonly signal: AbortSignal;
}

/**
 * Validators of this process for files that have none at their source: one names the bytes that were seen of a file. It promises no more
 * than that some of them were there when the file was opened again.
 */
export interface OwnValidators {
  /**
   * @param target of the file, open, of a known size
   * @param isRangeless the source sends it whole alone
   */
  find(
    request: UpstreamRequestDependencies & Pick<Location, 'track'> & { readonly signal: AbortSignal },
    target: UpstreamTarget,
    isRangeless: boolean,
  ): Promise<string>;
}
