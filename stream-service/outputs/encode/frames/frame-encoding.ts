import { MP3_SAMPLES_PER_FRAME, type Mp3BitrateKbps, mp3FrameBytes } from '../../../../core/conversions/mp3/index.ts';
import { WAV_FORMAT } from '../../../../core/conversions/wav/index.ts';

/** How the frames of a conversion are made. Every frame lasts 24 ms: 1,152 samples at 48 kHz. */
export interface FrameEncoding {
  /** Bytes of each frame. */
  readonly frameBytes: number;
  /**
   * Frames of a segment, a multiple of 5: that many frames last 0.12 s, a whole number of samples at every usual sample
   * rate.
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

/**
 * Frames of a segment of MP3: 144 s. Longer ones cost less (starting an encoder and seeking in the source is as much work
 * as encoding about 10 s), shorter ones take less decoding up to a seek position in their middle.
 */
export const SEGMENT_FRAMES = 6000;
/** 12 s, 290 kB at 192 kbit/s. */
const UNIT_FRAMES = 500;
/** The longest state of LAME is its loudness adaptation, about 100 frames. */
const LAME_WARM_UP_FRAMES = 200;
const LAME_LOOK_AHEAD_FRAMES = 3;

/** MP3 of constant bit rate without a bit reservoir: nothing but frames of one size. */
export const mp3Encoding = (bitrateKbps: Mp3BitrateKbps): FrameEncoding => ({
  frameBytes: mp3FrameBytes(bitrateKbps),
  segmentFrames: SEGMENT_FRAMES,
  unitFrames: UNIT_FRAMES,
  warmUpFrames: LAME_WARM_UP_FRAMES,
  lookAheadFrames: LAME_LOOK_AHEAD_FRAMES,
  outputArgs: [
    ...['-c:a', 'libmp3lame', '-b:a', `${bitrateKbps}k`, '-reservoir', '0'],
    ...['-write_xing', '0', '-id3v2_version', '0', '-flush_packets', '0', '-f', 'mp3'],
  ],
});

/** PCM. Segments of 24 s, 4.6 MB: decoding starts with the segment, and takes a hundredth of that time. */
export const WAV_ENCODING: FrameEncoding = {
  frameBytes: (MP3_SAMPLES_PER_FRAME * WAV_FORMAT.channels * WAV_FORMAT.bitsPerSample) / 8,
  segmentFrames: 1000,
  unitFrames: 100,
  warmUpFrames: 0,
  lookAheadFrames: 0,
  outputArgs: ['-c:a', 'pcm_s16le', '-flush_packets', '0', '-f', 's16le'],
};
