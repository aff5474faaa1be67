import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { type Ffmpeg, killWhenStopped } from '@reelay/yt-dlp-worker';
import { InMaintenance } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import { type FfmpegInput, FIRST_INPUT_DESCRIPTOR } from './ffmpeg-input-server.ts';
import { checkSandbox, sandboxCommand } from './sandbox.ts';

interface FfmpegOptions {
  /** Path of the executable. */
  readonly path: string;
  /** Arguments between the common flags and the output, `pipe:1`. */
  readonly args: readonly string[];
  /** Those with a pipe are written to it. It connects to the ports of the others alone. */
  readonly inputs?: readonly Pick<FfmpegInput, 'url' | 'writeTo' | 'isUnread'>[];
  /** Less output than this counts as a failure: FFmpeg takes damage in an input for its end. @default none does */
  readonly minSeconds?: number | undefined;
  /** For whom it runs: its further processes give way to those of others. @default as the first of a client */
  readonly client?: string;
  /** Kills the process; its reason becomes the stream's error. */
  readonly signal?: AbortSignal;
  /** Called once with the end of stderr when it fails. @returns an error to fail with, where that says more */
  readonly onFailure?: (stderr: string) => unknown;
}

/** FFmpeg failed, or read a truncated input. */
export class FfmpegFailed extends Error {
  override readonly name = 'FfmpegFailed';
}

/**
 * The largest single allocation: above a plane of 7680 × 4320 at 10 bits. Decoders refuse larger frames before they
 * decode them.
 */
const MAX_ALLOCATION_BYTES = 128 * 1024 * 1024;
const COMMON_FLAGS = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-max_alloc', String(MAX_ALLOCATION_BYTES)];
/**
 * What FFmpeg (5.1 to 9) writes to stderr for an MP4 and for a Matroska or WebM that is shorter than its index declares.
 * It treats that as the end of the input, and exits with 0.
 */
const TRUNCATED_INPUT = /: partial file$|\] File ended prematurely/m;
/** Bytes of stderr kept: its last lines give the reason. */
const MAX_STDERR_BYTES = 4096;
/** The last of its reports of progress: it writes one at its end. */
const MAX_PROGRESS_CHARS = 2048;
/** Bytes of output buffered for a client that is slower than FFmpeg. */
const BUFFER_BYTES = 1024 * 1024;

/**
 * Nine tenths of a processor that both want go to this process and to the forks of yt-dlp (sched(7): each step is a factor
 * of 1.25): a conversion takes all the time it gets, and delays every other client otherwise.
 */
const NICENESS = 10;
const MAX_NICENESS = 19;

/** With the client of each that has the normal priority. */
const running = new Map<ChildProcess, string | undefined>();

/** Number of FFmpeg processes that are running. */
export const runningFfmpegs = (): number => running.size;

/**
 * Runs FFmpeg with an empty environment, in a sandbox and under limits of the operating system, and streams its output.
 * The stream ends only when FFmpeg exited with 0, no input was truncated and it has read all of those with a pipe, else it is destroyed with an error, also when
 * FFmpeg does not start. Destroying it kills the process (SIGKILL); the stream emits `close` once the process has exited.
 */
export function runFfmpeg(options: FfmpegOptions): Readable {
  const { path, args, inputs = [], minSeconds, onFailure } = options;
  const progress = minSeconds === undefined ? [] : ['-progress', `pipe:${FIRST_INPUT_DESCRIPTOR + inputs.length}`];
  const ports = inputs.flatMap(({ url, writeTo }) => (writeTo ? [] : Number(new URL(url).port)));
  const [program = path, ...before] = sandboxCommand(path, ports);
  let child: ChildProcess;
  try {
    child = spawn(program, [...before, ...COMMON_FLAGS, ...progress, ...args, 'pipe:1'], {
      env: {},
      stdio: [
        ...['ignore' as const, 'pipe' as const, 'pipe' as const],
        ...inputs.map(({ writeTo }) => (writeTo ? 'pipe' : 'ignore')),
        ...(progress.length > 0 ? ['pipe' as const] : []),
      ],
    });
  } catch (error) {
    // `spawn` throws for want of memory. Most other failures to start are events.
    onFailure?.('');
    return new Readable().on('error', ignore).destroy(error as Error);
  }
  return outputOf(child, options);
}

/** Readers learn of the failure of an output from listeners of their own. */
const ignore = () => undefined;

function outputOf(
  child: ChildProcess,
  { inputs = [], client, minSeconds, signal, onFailure }: FfmpegOptions,
): Readable {
  killWhenStopped(child);
  const isFurther = client !== undefined && [...running.values()].includes(client);
  lowerPriority(child, isFurther ? MAX_NICENESS : NICENESS);
  if (child.pid !== undefined) running.set(child, isFurther ? undefined : client);
  // Without free file descriptors there are no pipes, only the `error` event.
  const pipes = inputs.map((_, index) => child.stdio?.[FIRST_INPUT_DESCRIPTOR + index] as Writable | null | undefined);
  for (const [index, pipe] of pipes.entries()) {
    if (!pipe) continue;
    // FFmpeg may exit without having read all of its input.
    pipe.on('error', () => undefined);
    inputs[index]?.writeTo?.(pipe);
  }
  const gone = Promise.withResolvers<void>();
  let stderr = '';
  let progress = '';
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
  }).on('error', ignore);

  const fail = (error: Error) => {
    if (output.destroyed) return;
    const reason = onFailure?.(stderr.trim());
    output.destroy(reason instanceof Error ? reason : error);
  };

  child.once('error', (error) => {
    if (child.pid === undefined) {
      // It never started, so that no exit event follows.
      gone.resolve();
    }
    fail(error);
  });
  let isUnread = false;
  child.once('exit', () => {
    running.delete(child);
    isUnread = inputs.some((input) => input.isUnread?.());
    // `close` waits for them.
    for (const pipe of pipes) pipe?.destroy();
    gone.resolve();
  });
  // Unlike `exit`, `close` is emitted after the last byte of stdout.
  child.once('close', (code, killedBy) => {
    const seconds = Number(/.*out_time_us=(\d+)/s.exec(progress)?.[1] ?? 0) / 1e6;
    if (code !== 0) fail(new FfmpegFailed(`FFmpeg exited with ${killedBy ?? code}`));
    else if (isUnread) fail(new FfmpegFailed('FFmpeg stopped reading before the end of an input'));
    else if (minSeconds !== undefined && seconds < minSeconds)
      fail(new FfmpegFailed(`FFmpeg wrote ${seconds.toFixed(1)} s of at least ${minSeconds.toFixed(1)} s`));
    else output.push(null);
  });
  const progressPipe = child.stdio?.[FIRST_INPUT_DESCRIPTOR + inputs.length] as Readable | null | undefined;
  progressPipe?.setEncoding('utf8').on('data', (text: string) => {
    progress = (progress + text).slice(-MAX_PROGRESS_CHARS);
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    if (!output.push(chunk)) child.stdout?.pause();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_BYTES);
    // This does not wait for the exit: further output may be silence in place of missing audio.
    if (TRUNCATED_INPUT.test(stderr)) fail(new FfmpegFailed('An input is shorter than its index declares'));
  });

  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return output;
}

/** Before FFmpeg has started its threads, which inherit it. */
function lowerPriority({ pid }: ChildProcess, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, Math.min(getPriority() + niceness, MAX_NICENESS));
  } catch {
    // It has ended, which its events report.
  }
}

/** @throws InMaintenance while FFmpeg is not installed, with the activity in progress */
export type RequireFfmpeg = () => Promise<Ffmpeg>;

interface RequireFfmpegDependencies {
  /** Absent until the first install is done. */
  readonly ffmpeg: () => Ffmpeg | undefined;
  /** The activity in progress, if any. */
  readonly maintenance: () => Promise<string | undefined>;
  readonly log: Log;
}

const DEFAULT_ACTIVITY = 'Downloading FFmpeg';

export function createRequireFfmpeg({ ffmpeg, maintenance, log }: RequireFfmpegDependencies): RequireFfmpeg {
  return async () => {
    const build = ffmpeg();
    if (build) {
      await checkSandbox(build.path, log);
      return build;
    }
    // FFmpeg is missing whether or not the table can say why.
    const activity = await maintenance().catch(() => undefined);
    throw new InMaintenance(activity ?? DEFAULT_ACTIVITY);
  };
}
