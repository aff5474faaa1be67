import { PassThrough, pipeline, type Readable } from 'node:stream';
import type { Log } from '../../../core/log/index.ts';
import type { Ffmpeg } from '../../../layers/tools/index.ts';
import { type FfmpegInputServer, runFfmpeg } from '../../ffmpeg/index.ts';
import type { Admission, StreamObserver } from '../../sessions/index.ts';
import type { Source } from '../../source/index.ts';
import type { MuxArgs, MuxPlan } from '../mux-plan.ts';
import { createDurationPatchStream } from './duration-patch-stream.ts';
import { type PeekedSource, peekSourceStart } from './peek-source.ts';

export interface MuxDependencies {
  readonly loopback: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly meter: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
}

export interface MuxJob {
  /** The inputs, in the order the plan counts them. FFmpeg starts while files are being opened. */
  readonly sources: readonly (Source | Promise<Source>)[];
  readonly plan: MuxPlan;
  /** Written into the header; undefined: it stays open, as for a live source. */
  readonly durationSeconds: number | undefined;
}

/**
 * FFmpeg reads two inputs that cannot seek 50 times slower with its own queue of 8 packets (up to 6.x). For one input it
 * would be a thread more, and a third more work.
 */
const QUEUE_ARGS = ['-thread_queue_size', '512'];

export type Mux = (ffmpeg: Ffmpeg, work: MuxJob) => Readable;

/** Bytes held between FFmpeg and a reader who came before it. */
const BUFFER_BYTES = 256 * 1024;

/**
 * Copies tracks into one file while it is sent. The stream ends only when every source was read to its end and FFmpeg
 * is content; destroying it ends the process and the reading of the sources.
 *
 * @throws Problem 503 when every process is taken
 */
export function createMux({ loopback, admission, meter, log }: MuxDependencies): Mux {
  const run = (path: string, sources: MuxJob['sources'], { second, output }: MuxArgs, release: () => void) => {
    const inputs = sources.map((source) => loopback.serve(source));
    const queue = inputs.length > 1 ? QUEUE_ARGS : [];
    const inputArgs = inputs.flatMap(({ args, url }, index) => [
      ...[...args, ...queue, ...(index === 1 ? second : [])],
      ...['-i', url],
    ]);
    const muxed = runFfmpeg({
      path,
      args: [...inputArgs, ...output],
      signal: AbortSignal.any(inputs.map(({ failed }) => failed)),
      onFailure(stderr) {
        meter.onFfmpegFailure();
        log.warn('FFmpeg failed to mux', { stderr });
      },
    });
    muxed.once('error', () => undefined); // Whoever reads sees it too, but may not have begun.
    muxed.once('close', () => {
      for (const input of inputs) input.close();
      release();
    });
    return muxed;
  };

  return ({ path }, { sources, plan, durationSeconds }) => {
    const release = admission.acquireFfmpeg();
    const isPatched = durationSeconds !== undefined && plan.container === 'mp4';
    const outlet = isPatched
      ? createDurationPatchStream(durationSeconds)
      : new PassThrough({ highWaterMark: BUFFER_BYTES });
    const begin = (args: MuxArgs, from = sources, end = release) =>
      pipeline(run(path, from, args, end), outlet, () => undefined);
    if (!plan.isSegmented) {
      begin(plan.args());
      return outlet;
    }
    lookAtAll(sources, outlet).then(
      (begun) => {
        const end = () => {
          for (const each of begun) each.close();
          release();
        };
        const args = plan.args(begun.map(({ beginning }) => beginning));
        if (outlet.destroyed) end();
        else
          begin(
            args,
            begun.map(({ source }) => source),
            end,
          );
      },
      (error) => {
        release();
        outlet.destroy(error);
      },
    );
    outlet.once('error', () => undefined);
    return outlet;
  };
}

/** How all sources begin. The first failure, or a reader who leaves, ends all of it. */
async function lookAtAll(sources: MuxJob['sources'], reader: Readable): Promise<readonly PeekedSource[]> {
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  reader.once('close', leave);
  const looking = sources.map(async (source) => peekSourceStart(await source, leaving.signal));
  try {
    return await Promise.all(looking);
  } catch (error) {
    leave();
    for (const each of await Promise.allSettled(looking)) if (each.status === 'fulfilled') each.value.close();
    throw error;
  } finally {
    reader.off('close', leave);
  }
}
