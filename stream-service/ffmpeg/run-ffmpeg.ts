import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';

export interface FfmpegOptions {
  /** The program. */
  readonly path: string;
  /** Everything between the common flags and the output, which is `pipe:1`. */
  readonly args: readonly string[];
  /** Ends it; its reason becomes the stream's error. */
  readonly signal?: AbortSignal;
  /** Called once with the end of stderr when it fails. */
  readonly onFailure?: (stderr: string) => void;
}

/** FFmpeg ended before its work was done. */
export class FfmpegFailed extends Error {
  override readonly name = 'FfmpegFailed';
}

const COMMON_FLAGS = ['-nostdin', '-hide_banner', '-loglevel', 'error'];
/**
 * What FFmpeg (5.1 to 9) says of an MP4 and of a Matroska or WebM that ends before what its index promises. It takes
 * that for the end, and exits with 0.
 */
const CUT_INPUT = /: partial file$|\] File ended prematurely/m;
/** Bytes of stderr kept: the last lines say why. */
const STDERR_BYTES = 4096;
/** Bytes of output held for a client that is slower than FFmpeg. */
const BUFFER_BYTES = 1024 * 1024;

const running = new Set<ChildProcess>();

/** How many FFmpeg processes run now. */
export const runningFfmpegs = (): number => running.size;

/**
 * Runs FFmpeg with an empty environment and gives what it writes. The stream ends only when FFmpeg exited with 0 and
 * found no input cut, else it is destroyed with an error. Destroying it ends the process, and waits for nobody: SIGKILL.
 * The stream's `close` comes when the process is gone.
 */
export function runFfmpeg({ path, args, signal, onFailure }: FfmpegOptions): Readable {
  const child = spawn(path, [...COMMON_FLAGS, ...args, 'pipe:1'], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  const gone = Promise.withResolvers<void>();
  let stderr = '';
  const abort = () => output.destroy(signal?.reason instanceof Error ? signal.reason : new Error('Aborted'));

  const output = new Readable({
    highWaterMark: BUFFER_BYTES,
    read: () => void child.stdout?.resume(),
    destroy(error, done) {
      signal?.removeEventListener('abort', abort);
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
      void gone.promise.then(() => done(error));
    },
  });

  const fail = (error: Error) => {
    if (output.destroyed) return;
    onFailure?.(stderr.trim());
    output.destroy(error);
  };

  child.once('spawn', () => running.add(child));
  child.once('error', (error) => {
    if (child.pid === undefined) gone.resolve(); // It never started: there will be no exit.
    fail(error);
  });
  child.once('exit', () => {
    running.delete(child);
    gone.resolve();
  });
  // Unlike `exit`, `close` comes after the last byte of stdout.
  child.once('close', (code, killedBy) => {
    if (code === 0) output.push(null);
    else fail(new FfmpegFailed(`FFmpeg ended with ${killedBy ?? code}`));
  });
  // Without a file descriptor left there are no pipes, only the error to come.
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!output.push(chunk)) child.stdout.pause();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_BYTES);
    // At once: what it writes from here on may be silence in the place of what is missing.
    if (CUT_INPUT.test(stderr)) fail(new FfmpegFailed('An input ends before what it promises'));
  });

  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return output;
}
