import { type ChildProcess, spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { InMaintenance } from '../../core/errors/index.ts';
import { startSpan } from '../../core/log/index.ts';
import { type Ffmpeg, killWhenStopped } from '../../layers/tools/index.ts';
import { LIMIT_OPTIONS, withProcessLimits } from './process-limits.ts';

export interface FfmpegOptions {
  /** Path of the executable. */
  readonly path: string;
  /** Arguments between the common flags and the output, `pipe:1`. */
  readonly args: readonly string[];
  /** Kills the process; its reason becomes the stream's error. */
  readonly signal?: AbortSignal;
  /** Called once with the end of stderr when it fails. */
  readonly onFailure?: (stderr: string) => void;
}

/** FFmpeg failed, or read a truncated input. */
export class FfmpegFailed extends Error {
  override readonly name = 'FfmpegFailed';
}

const COMMON_FLAGS = ['-nostdin', '-hide_banner', '-loglevel', 'error', ...LIMIT_OPTIONS];
/**
 * What FFmpeg (5.1 to 9) writes to stderr for an MP4 and for a Matroska or WebM that is shorter than its index declares.
 * It treats that as the end of the input, and exits with 0.
 */
const TRUNCATED_INPUT = /: partial file$|\] File ended prematurely/m;
/** Bytes of stderr kept: its last lines give the reason. */
const MAX_STDERR_BYTES = 4096;
/** Bytes of output buffered for a client that is slower than FFmpeg. */
const BUFFER_BYTES = 1024 * 1024;

const running = new Set<ChildProcess>();

/** Number of FFmpeg processes that are running. */
export const runningFfmpegs = (): number => running.size;

/**
 * Runs FFmpeg with an empty environment under limits of the operating system, and streams its output. The stream ends
 * only when FFmpeg exited with 0 and no input was truncated, else it is destroyed with an error. Destroying it kills
 * the process (SIGKILL); the stream emits `close` once the process has exited.
 */
export function runFfmpeg({ path, args, signal, onFailure }: FfmpegOptions): Readable {
  const [command, ...limits] = withProcessLimits(path);
  const child = spawn(command, [...limits, ...COMMON_FLAGS, ...args, 'pipe:1'], {
    env: {},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  killWhenStopped(child);
  const span = startSpan('ffmpeg', () => ({
    attributes: { 'process.executable.name': 'ffmpeg', 'process.pid': child.pid },
  }));
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
    if (child.pid === undefined) {
      // It never started: there is no exit event.
      span.fail(error);
      span.end();
      gone.resolve();
    }
    fail(error);
  });
  child.once('exit', (code) => {
    span.set({ 'process.exit.code': code ?? undefined });
    span.end();
    running.delete(child);
    gone.resolve();
  });
  // Unlike `exit`, `close` is emitted after the last byte of stdout.
  child.once('close', (code, killedBy) => {
    if (code === 0) output.push(null);
    else fail(new FfmpegFailed(`FFmpeg exited with ${killedBy ?? code}`));
  });
  // Without free file descriptors there are no pipes, only the `error` event.
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!output.push(chunk)) child.stdout.pause();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_BYTES);
    // At once: further output may be silence in place of missing audio.
    if (TRUNCATED_INPUT.test(stderr)) fail(new FfmpegFailed('An input is shorter than its index declares'));
  });

  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return output;
}

/** @throws InMaintenance while FFmpeg is not installed, with the activity in progress */
export type RequireFfmpeg = () => Promise<Ffmpeg>;

export interface RequireFfmpegDependencies {
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any. */
  readonly maintenance: () => Promise<string | undefined>;
}

const DEFAULT_ACTIVITY = 'Downloading FFmpeg';

export function createRequireFfmpeg({ ffmpeg, maintenance }: RequireFfmpegDependencies): RequireFfmpeg {
  return async () => {
    const build = ffmpeg();
    if (build) return build;
    // FFmpeg is missing whether or not the table can say why.
    const activity = await maintenance().catch(() => undefined);
    throw new InMaintenance(activity ?? DEFAULT_ACTIVITY);
  };
}
