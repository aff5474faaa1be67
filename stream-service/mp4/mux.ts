import { pipeline, type Readable } from 'node:stream';
import type { Log } from '../../layers/contract/index.ts';
import type { Ffmpeg } from '../../layers/tools/index.ts';
import type { Admission } from '../admission.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import type { Loopback } from '../loopback.ts';
import type { Meter } from '../meter.ts';
import type { Source } from '../source/source.ts';
import { headerPatch } from './header-patch.ts';
import type { MuxPlan } from './mux-plan.ts';

export interface MuxDependencies {
  readonly loopback: Loopback;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly meter: Pick<Meter, 'ffmpegFails'>;
  readonly log: Log;
}

export interface MuxWork {
  /** The inputs, in the order the plan counts them. FFmpeg starts while they are being opened. */
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

export type Mux = (ffmpeg: Ffmpeg, work: MuxWork) => Readable;

/**
 * Copies tracks into one file while it is sent. The stream ends only when every source was read to its end and FFmpeg
 * is content; destroying it ends the process and the reading of the sources.
 *
 * @throws Problem 503 when every process is taken
 */
export function createMux({ loopback, admission, meter, log }: MuxDependencies): Mux {
  return ({ path }, { sources, plan, durationSeconds }) => {
    const release = admission.acquireFfmpeg();
    const inputs = sources.map((source) => loopback.serve(source));
    const queue = inputs.length > 1 ? QUEUE_ARGS : [];
    const output = runFfmpeg({
      path,
      args: [...inputs.flatMap(({ args, url }) => [...args, ...queue, '-i', url]), ...plan.args],
      signal: AbortSignal.any(inputs.map(({ failed }) => failed)),
      onFailure(stderr) {
        meter.ffmpegFails();
        log.warn('FFmpeg failed to mux', { stderr });
      },
    });
    output.once('error', () => undefined); // Whoever reads sees it too, but may not have begun.
    output.once('close', () => {
      for (const input of inputs) input.close();
      release();
    });
    if (durationSeconds === undefined || plan.container !== 'mp4') return output;
    const patched = headerPatch(durationSeconds);
    pipeline(output, patched, () => undefined);
    return patched;
  };
}
