import type { HandlerType, RunSample } from '../isobmff/index.ts';

/** A track of some segments, as a file describes it. */
export interface SegmentTrack {
  readonly kind: HandlerType;
  /** Units per second, of the times and durations of its samples. */
  readonly timescale: number;
  /** A whole sample entry: `avc1`, `mp4a` … */
  readonly sampleEntry: Buffer;
  /** The 60 bytes after the duration in `tkhd`; see `presentationOf`. */
  readonly presentation: Buffer;
}

/** What segments have in common that one decoder configuration can decode. It is stored with their table. */
export interface Encoding {
  readonly tracks: readonly SegmentTrack[];
  /** What reading segments needs besides, in a form of the format's own. */
  readonly state: Buffer;
}

/** The first bytes of a segment. */
export interface SegmentHead {
  /** Decrypted. */
  readonly bytes: Buffer;
  /** They are all of the segment. */
  readonly isWhole: boolean;
  /** Bytes of the whole segment as it is stored at its source: encrypted, it has up to 16 bytes more than its media. */
  readonly size: number;
  /** The initialization section before it. */
  readonly init: Buffer | undefined;
  /** That of the segment before, where the list declares no change. Absent: the encoding has to be found. */
  readonly encoding: Encoding | undefined;
}

/** Asks for a longer head. A number beyond the end of the segment means all of it. */
export interface MoreBytes {
  readonly neededBytes: number;
}

/** What the head of a segment says. Times in units of its main track: the video, or the audio where there is no video. */
export interface SegmentFacts {
  readonly encoding: Encoding;
  readonly mainKind: HandlerType;
  /** Decode time of the first sample of the main track, on the clock of the segments. Undefined: where the segment before ends. */
  readonly startTime: number | undefined;
  /** When the first sample of any track is shown or heard, as far as the head tells. */
  readonly earliestTime: number;
  /** Where the main track ends. Absent: only the whole segment tells. */
  readonly endTime?: number;
  readonly startsWithSync: boolean;
  /**
   * Bytes that `writeSubsegment` needs for all of its samples with sample description 1, at most. What a segment does not need of them
   * is padded; one that needs more breaks the connection.
   */
  readonly maxBytes: number;
  /** Extra bytes needed when its samples are retimed, as those of the first segment may be. @default 0 */
  readonly movedBytes?: number;
  /** Extra bytes needed when its access points contain their parameter sets. @default 0 */
  readonly setBytes?: number;
  /** `maxBytes` of its audio alone, where it has video as well. Absent: the head does not tell. */
  readonly audioBytes?: number;
}

/** The samples of one track of a segment. Times in units of the track. */
export interface SegmentRun {
  readonly kind: HandlerType;
  /**
   * When the first sample is decoded. All runs of a segment count from the same moment, without wrapping in between; which one it is does not
   * matter, because the table says when the main track begins.
   */
  readonly decodeTime: number;
  /** In decode order. */
  readonly samples: readonly RunSample[];
  /** The bytes of the samples, in the same order; slices of the segment where possible, valid until another one is read. */
  readonly data: readonly Buffer[];
  /** As in `TrackRun`. */
  readonly lacksLengths?: true;
}

/**
 * A format of segments: the only code that knows what is in them. Pure and deterministic: every process makes the same bytes of
 * a segment. What cannot be sent as MP4 throws UnsupportedMp4: the list is then left to FFmpeg.
 */
export interface SegmentFormat {
  /** Seconds after which its clock begins again. @default never */
  readonly clockSeconds?: number;
  /** Segments are parts of one file: their times are those of its index, or it is damaged. @default false */
  readonly hasFileTimes?: true;
  /** @throws UnsupportedMp4 */
  inspect(head: SegmentHead): SegmentFacts | MoreBytes;
  /** `maxBytes` of any segment of an encoding, by its size alone. Absent: it tells too little. */
  boundFragment?(segmentBytes: number, encoding: Encoding): number;
  /**
   * The samples of a whole segment, decrypted; the main track first. Tracks that the encoding does not have are left out.
   * @param segment it may be overwritten
   * @param maxPieces units of video, frames of audio, samples, or elements of Matroska. @default as many as there are
   * @param hasSets access points have their parameter sets, not only the sample description
   * @throws UnsupportedMp4, TooManyPieces
   */
  read(segment: Buffer, encoding: Encoding, maxPieces?: number, hasSets?: boolean): readonly SegmentRun[];
  /** Whether the head of a segment leaves open if it can be read: one is read as a whole before the list is relied on. */
  readonly needsTrial?: boolean;
  /** Reading a segment takes time in proportion to its pieces alone, however large they are. @default false */
  readonly hasIndexedPieces?: true;
}

/**
 * Whether sound begins within a sample after the first picture is decoded.
 * @param lateness in units of the sound
 */
export const isHardlyLate = (lateness: number, { samples: [first] }: Pick<SegmentRun, 'samples'>): boolean =>
  first !== undefined && lateness > 0 && lateness < first.duration;

/** Type of a value whose properties are set one by one before it is passed on. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A segment has more pieces than its reader wanted to read in one go. */
export class TooManyPieces extends Error {}

/** Enough for the start of a segment in most formats. */
export const HEAD_BYTES = 6016;
/** A segment is in memory as a whole while it is sent. */
export const MAX_SUBSEGMENT_BYTES = 32 * 1024 * 1024;

/** `volume` in 8.8 fixed point, and reserved bytes. */
const FULL_VOLUME = 0x0100_0000;

/**
 * `SegmentTrack.presentation` of a track that is shown as it is.
 * @param size in pixels. Absent: audio
 */
export function presentationOf(size?: { readonly width: number; readonly height: number }): Buffer {
  const presentation = Buffer.alloc(60);
  if (!size) presentation.writeUInt32BE(FULL_VOLUME, 12);
  // The unity matrix (§8.2.2.2), in 16.16 and 2.30 fixed point.
  for (const [at, value] of [
    [16, 0x1_0000],
    [32, 0x1_0000],
    [48, 0x4000_0000],
  ] as const)
    presentation.writeUInt32BE(value, at);
  presentation.writeUInt32BE((size?.width ?? 0) * 0x1_0000, 52);
  presentation.writeUInt32BE((size?.height ?? 0) * 0x1_0000, 56);
  return presentation;
}
