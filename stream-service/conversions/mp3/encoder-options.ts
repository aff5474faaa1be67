import type { FfmpegInputServer } from '../../ffmpeg/index.ts';

export interface EncoderOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly loopback: FfmpegInputServer;
  readonly onFailure: (stderr: string) => void;
}
