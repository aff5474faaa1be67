import type { Loopback } from '../ffmpeg/index.ts';

export interface EncoderOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly loopback: Loopback;
  readonly onFailure: (stderr: string) => void;
}
