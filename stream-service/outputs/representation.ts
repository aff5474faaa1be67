import type { Readable } from 'node:stream';
import type { FileType } from '@reelay/seekable-media/codecs';
import type { PredictedRange } from '@reelay/seekable-media/http';
import type { ClipTimes } from '@reelay/seekable-media/parts/skipping';
import { memorySource } from '@reelay/source';
import { type Selection, toProblem } from '../../core/api/index.ts';
import type { AlbumPosition, ConversionName } from '../../core/conversions/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import { entityTag } from '../../core/http/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import type { OpenSource } from '../source/index.ts';

export type { ClipTimes };

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
  /** Part of a presentation, which only players request: it is not offered as a download. @default false */
  readonly isInline?: boolean;
  /** The part that it is, which names the file. Absent: the whole. */
  readonly clip?: ClipTimes;
  /** When it was recorded, which names the file, epoch milliseconds. Absent: not known, or not a part of a live stream. */
  readonly recordedAtMs?: number;
  /** Nothing is sent: the request is for the part of a live stream that has these segments, such as `100-149`. */
  readonly segments?: string;
  /** Where in the presentation it starts, in seconds, if that is not where it was requested: X-Argon-Start. */
  readonly startSeconds?: number;
}

/** What a Stream endpoint sends, open for reading. */
export interface Representation extends RepresentationHead {
  /**
   * Reads from `first` to `last`, both included; without `last` to the end, the only way when `size` is unknown.
   * The stream carries exactly these bytes or is destroyed with an error; until its first byte, that error can still be
   * answered. Destroying the stream ends whatever feeds it. Each chunk belongs to its reader: its memory is not reused.
   */
  read(first: number, last?: number): Readable;
}

/** What every plan of an output says; `kind` and the rest are where each kind is planned. */
export interface PlannedOutput {
  /** What is known before anything is opened. */
  readonly head: RepresentationHead;
  /** Whether HEAD is answered with `head` as it is, because opening the output would add nothing to it. */
  readonly answersHead: boolean;
  /** The format that was requested, for metrics. Absent: as it is. */
  readonly conversion?: ConversionName;
  /** The title of the part that it is, which names the file in place of the item's title and the times. */
  readonly partTitle?: string;
  /** What distinguishes it in file names from the rendition without parameters: `German`. */
  readonly version?: string;
  /** It is sent from its first byte alone, although the bytes may have ranges elsewhere. */
  readonly isWithoutRanges?: boolean;
  /** Where the same bytes can be requested by range, once they turn out to have ranges. */
  readonly rangedPath?: string;
}

/** What is asked of a rendition. */
export interface RenditionQuery extends Selection {
  readonly route: 'Media' | 'Combined' | 'Hls' | 'Cover';
  /** A file of the HLS presentation. */
  readonly file?: string;
  /** The list that it is sent as a part of. */
  readonly listPlace?: AlbumPosition;
  /** What is marked is among the chapters of the resource, which are to be part of the file. */
  readonly hasMarks?: boolean;
}

/** For whom a plan is opened, and what for. */
export interface Opening {
  readonly session: StreamSession;
  /** What will probably be read: a file is opened with a request for it. */
  readonly range: PredictedRange;
  /** HEAD: nothing is resolved again, no media is encoded, and the body is not read. */
  readonly isForHead: boolean;
  /** Opens sources for this purpose. */
  readonly openSource: OpenSource;
}

/** Stores the exact size of a rendition unless its resource has it already. Never fails: the next stream tries again. */
export type RecordSize = (found: KeyedRendition, bytes: number) => void;

/** Opens planned outputs. What is opened closes with the session. */
export interface Outputs<Plan extends PlannedOutput> {
  /**
   * @param range what will probably be read
   * @throws NotFound, UpstreamError, InMaintenance while FFmpeg is needed and missing, CapacityExceeded
   */
  open(plan: Plan, session: StreamSession, range: PredictedRange): Promise<Representation>;
  /** The head of an output for HEAD: from the plan where opening adds nothing, else from its open sources. */
  inspect(plan: Plan, session: StreamSession, range?: PredictedRange): Promise<RepresentationHead>;
}

/** `Representation.read` of an output that was opened for its head. */
export const unread = (): never => {
  throw new TypeError('The output was opened for its head alone');
};

/**
 * The error of a representation that failed before its first byte. One of no known class comes from FFmpeg or a parser
 * reading what the source sent: an `UpstreamError`, with it as the cause.
 */
export const toReadError = (error: unknown): unknown =>
  toProblem(error).details.status === 500 ? new UpstreamError('The source could not be read', { cause: error }) : error;

/** A small file that is known as a whole, with ranges and an ETag of its bytes. */
export const inMemory = (
  { mimeType, fileExtension, isInline }: FileType & Pick<Representation, 'isInline'>,
  bytes: Buffer,
): Representation => ({
  mimeType,
  fileExtension,
  isInline,
  size: bytes.length,
  acceptRanges: 'bytes',
  etag: entityTag(bytes),
  read: memorySource(bytes).read,
});
