import type { Readable } from 'node:stream';

export interface FfmpegOptions {
  /** The program. */
  readonly path: string;
  /** Everything between the common flags and the output, which is `pipe:1`. */
  readonly args: readonly string[];
  readonly signal?: AbortSignal;
  /** Called once with the end of stderr when it fails. */
  readonly onFailure?: (stderr: string) => void;
}

/**
 * Runs FFmpeg with an empty environment and gives what it writes. The stream ends only when FFmpeg exited with 0, else
 * it is destroyed with an error. Destroying it ends the process, and waits for nobody: SIGKILL.
 */
export declare function runFfmpeg(options: FfmpegOptions): Readable;
