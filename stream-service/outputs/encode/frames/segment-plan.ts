import type { AudioStart } from './audio-start.ts';
import type { FrameEncoding } from './frame-encoding.ts';
import type { FrameRange } from './layout.ts';

/**
 * Frames that resampler and encoder process before a segment, so that its boundary is seamless. A multiple of 5, as
 * segments are.
 */
const PREROLL_FRAMES = 10;
/**
 * Durations of sources are this inexact: some seconds and a tenth, at most two minutes. A larger difference is a false
 * promise: hours of silence for a few bytes, or a source that ended early.
 */
const paddingSeconds = (endSeconds: number): number => Math.min(10 + endSeconds / 10, 120);
/** Seconds read before the seek position: decoders need preroll, and containers interleave audio inexactly. */
const RUN_UP_SECONDS = 3;

/**
 * Gaps in timestamps that are filled, and overlaps that are dropped, from this length on: less than a packet of any codec in
 * use, more than the rounding of timestamps. FFmpeg's default is 0.1 s.
 */
const FOLLOW_TIMESTAMPS = 'async=1:min_hard_comp=0.01';
/** Always stereo: players meet one kind of frame, and the frame size does not depend on the channels. */
const STEREO = 'aformat=channel_layouts=stereo';

/** Filters of a sequential conversion, which ends with the audio. */
export const sequentialFilters = ({ sampleRate }: FrameEncoding) =>
  `aresample=${sampleRate}:${FOLLOW_TIMESTAMPS},${STEREO}`;

/** Output arguments for the first audio track. */
export const encodeArgs = (filters: string, { outputArgs }: FrameEncoding): string[] => [
  ...['-map', '0:a:0', '-af', filters],
  ...outputArgs,
];

/** How to encode a frame range: what to read of the source, and which part of FFmpeg's output to keep. */
export interface FrameRangePlan {
  /** Seconds of the time line at which reading starts; 0: from the start of the source. */
  readonly readFromSeconds: number;
  /** Seconds of the source that are needed from there. */
  readonly readSeconds: number;
  /** The audio filters, by the timestamp that the start of the time line has in what is read. */
  readonly filters: (start: Pick<AudioStart, 'sampleRate' | 'originSample'>) => string;
  /** Bytes of output to drop at the start. */
  readonly skipBytes: number;
  /** Bytes of output to keep after them. */
  readonly bytes: number;
}

/**
 * Plans the encode of a frame range. Decoding and resampling always start with the segment, so that samples are a
 * function of the segment alone; the encoder starts shortly before the range.
 *
 * Gaps in the source's timestamps are filled with silence (`async=1`), as is the time before the first sample: closing
 * them would repeat the end of a segment at the start of the next. Audio that ends early is padded (`apad`), up to
 * `paddingSeconds`: where it ends earlier, the output is too short, which fails the stream.
 */
export function planFrameRange(
  { segment, firstFrame, endFrame, slice: [from, to] }: FrameRange,
  encoding: FrameEncoding,
): FrameRangePlan {
  const { frameBytes, frameSamples, segmentFrames, warmUpFrames, lookAheadFrames } = encoding;
  const frameSeconds = frameSamples / encoding.sampleRate;
  const decodeFrame = Math.max(segment * segmentFrames - PREROLL_FRAMES, 0);
  const encodeFrame = Math.max(firstFrame - warmUpFrames, decodeFrame);
  const decodeSeconds = decodeFrame * frameSeconds;
  const startSample = (encodeFrame - decodeFrame) * frameSamples;
  const endSample = (endFrame + lookAheadFrames - decodeFrame) * frameSamples;

  const readFromSeconds = Math.max(decodeSeconds - RUN_UP_SECONDS, 0);

  return {
    readFromSeconds,
    readSeconds: (endFrame + lookAheadFrames) * frameSeconds - readFromSeconds,
    filters({ sampleRate, originSample }) {
      const first = originSample + Math.round(decodeSeconds * sampleRate);
      return [
        `atrim=start_pts=${first}`,
        `asetpts=PTS-(${first})`,
        `aresample=${encoding.sampleRate}:${FOLLOW_TIMESTAMPS}:first_pts=0`,
        STEREO,
        `apad=pad_dur=${paddingSeconds(endFrame * frameSeconds).toFixed(3)}`,
        `atrim=start_sample=${startSample}:end_sample=${endSample}`,
      ].join();
    },
    skipBytes: (firstFrame - encodeFrame) * frameBytes + from,
    bytes: to - from,
  };
}

/** Shifts timestamps so that the first audio sample read has timestamp 0. */
export const withTimestampsFromZero = (filters: string): string => `asetpts=PTS-STARTPTS,${filters}`;
