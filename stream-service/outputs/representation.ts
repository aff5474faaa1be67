import type { Readable } from 'node:stream';
import { toProblem } from '../../core/api/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import type { PredictedRange } from '../../core/http/index.ts';
import type { StreamSession } from '../sessions/index.ts';

/** A part of a presentation, in seconds. */
export interface ClipTimes {
  readonly startSeconds: number;
  /** Infinite: to the end. */
  readonly endSeconds: number;
}

/** Facts of a representation for the response headers. Before its source is open, some may be unknown. */
export interface RepresentationHead {
  /** Bytes, exact. Undefined: unknown before the end, so neither length nor ranges are offered. */
  readonly size: number | undefined;
  readonly mimeType: string;
  /** With a leading dot. */
  readonly fileExtension: string;
  /** Strong validator, quotes included (RFC 9110 §8.8.3). Undefined without a size: no ranges are ever joined. */
  readonly etag?: string;
  /** Accept-Ranges (RFC 9110 §14.3). Undefined: known only once the source is open, so the header is left out. */
  readonly acceptRanges: 'bytes' | 'none' | undefined;
  /** Path where the same bytes can be requested by range: Content-Location (RFC 9110 §8.7). */
  readonly contentLocation?: string;
  /** Bytes, approximate: a hint for progress bars where `size` is unknown. */
  readonly estimatedBytes?: number;
  /** Part of a presentation that only players request: it is no download. @default false */
  readonly isInline?: boolean;
  /** The part that it is, which names the file. Absent: the whole. */
  readonly clip?: ClipTimes;
}

/** What a Stream endpoint sends, open for reading: a file, a remux, a conversion, or two tracks combined. */
export interface Representation extends RepresentationHead {
  /**
   * Reads from `first` to `last`, both included; without `last` to the end, the only way when `size` is unknown.
   * The stream carries exactly these bytes or is destroyed with an error; until its first byte, that error can still be
   * answered. Destroying the stream ends whatever feeds it. Each chunk belongs to its reader: its memory is not reused.
   */
  read(first: number, last?: number): Readable;
}

/** A representation that has been chosen and is not open yet. */
export interface RepresentationOpener {
  /** Describes it from the state table alone. */
  describe(): RepresentationHead;
  /**
   * Describes it from its open sources, for HEAD: resolves nothing again and encodes nothing. Absent where that would
   * add nothing to `describe`.
   * @param range as for `open`. @default everything
   */
  readonly inspect?: (session: StreamSession, range?: PredictedRange) => Promise<RepresentationHead>;
  /**
   * Opens its sources. They are closed with the session.
   * @param range what will probably be read: a file is opened with a request for it
   * @throws NotFound, UpstreamError, InMaintenance while FFmpeg is needed and missing, CapacityExceeded
   */
  open(session: StreamSession, range: PredictedRange): Promise<Representation>;
}

/**
 * The error of a representation that failed before its first byte. One of no known class comes from FFmpeg or a parser
 * reading what the source sent: an `UpstreamError`, with it as the cause.
 */
export const toReadError = (error: unknown): unknown =>
  toProblem(error).details.status === 500 ? new UpstreamError('The source could not be read', { cause: error }) : error;
