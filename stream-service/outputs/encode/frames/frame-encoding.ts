import type { FfmpegInputServer } from '../../../ffmpeg/index.ts';

/** How the frames of a conversion are made: the facts of its format. */
export interface FrameEncoding {
  /** Hz. */
  readonly sampleRate: number;
  /** Samples of each frame, per channel. */
  readonly frameSamples: number;
  /** Bytes of each frame. */
  readonly frameBytes: number;
  /** Samples by which a decoder is later than the source: the delay of encoder and decoder. */
  readonly delaySamples: number;
  /**
   * Frames of a segment. Together they last a whole number of samples at every usual sample rate: of frames of 24 ms a
   * multiple of 5.
   */
  readonly segmentFrames: number;
  /** Frames that are encoded and kept together for ranges that are no longer: a segment is a multiple of them. */
  readonly unitFrames: number;
  /** Frames after which the output of the encoder no longer depends on where it started. */
  readonly warmUpFrames: number;
  /** Frames that the encoder reads ahead of its output, rounded up. They are dropped from the output. */
  readonly lookAheadFrames: number;
  /** FFmpeg's options of the output. */
  readonly outputArgs: readonly string[];
}

export interface EncoderOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly client?: string;
  readonly onFailure: (stderr: string) => void;
}
