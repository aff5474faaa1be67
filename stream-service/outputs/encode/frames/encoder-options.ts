import type { FfmpegInputServer } from '../../../ffmpeg/index.ts';

export interface EncoderOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly onFailure: (stderr: string) => void;
}
