import { PassThrough, pipeline, type Readable, Transform } from 'node:stream';
import { patchCreationTime, patchHeaderDuration } from '@reelay/seekable-media/isobmff';
import { extendHeader, type LayoutExtras } from '@reelay/seekable-media/virtual-mp4';
import type { Source } from '@reelay/source';
import type { Ffmpeg } from '@reelay/yt-dlp-worker';
import type { Log } from '../../../core/log/index.ts';
import { type FfmpegInputServer, runFfmpeg } from '../../ffmpeg/index.ts';
import type { Admission, StreamObserver } from '../../sessions/index.ts';
import { outputFormats, refusal } from '../output-formats.ts';
import type { MuxArgs, MuxFormat } from './mux-format.ts';
import { type PeekedSource, peekSourceStart } from './peek-source.ts';

export interface MuxDependencies {
  readonly loopback: FfmpegInputServer;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly meter: Pick<StreamObserver, 'onFfmpegFailure'>;
  readonly log: Log;
}

export interface MuxJob {
  /** The inputs, in the format's order. FFmpeg starts while files are being opened. */
  readonly sources: readonly (Source | Promise<Source>)[];
  readonly format: MuxFormat;
  /** Written into the header; undefined: unknown, as for a live source. */
  readonly durationSeconds: number | undefined;
  /** Written into the header of MP4, epoch milliseconds; absent: not known. */
  readonly recordedAtMs?: number | undefined;
  /** Added to MP4; other containers have no room for them. */
  readonly extras?: LayoutExtras;
  /** Where text ends, in seconds. @default `durationSeconds` */
  readonly textEndSeconds?: number;
  /** The client of the stream, whose share of FFmpeg processes the job counts to. */
  readonly client: string;
}

/**
 * With its default queue of 8 packets, FFmpeg up to 6.x reads two unseekable inputs 50 times slower. For one input the
 * option would cost a thread and a third more CPU time.
 */
const QUEUE_ARGS = ['-thread_queue_size', '512'];

/** What FFmpeg says of a codec that its output cannot hold: of some sources, only reading them tells the codec, as LATM in place of ADTS. */
const UNWRITABLE =
  /codec not currently supported in container|Codec 'aac_latm' .* is not supported by the bitstream filter/;

/** The index at the end of the file would have the offsets from before the header grew. */
const WITHOUT_INDEX_ARGS = ['-movflags', '+skip_trailer'];

interface FfmpegRun extends Pick<MuxJob, 'sources' | 'client'> {
  readonly args: MuxArgs;
  /** As `FfmpegOptions.minSeconds`. */
  readonly minSeconds?: number | undefined;
  /** Called once FFmpeg has ended. */
  readonly release: () => void;
}

export type Mux = (ffmpeg: Ffmpeg, work: MuxJob) => Readable;

/** highWaterMark: with less, FFmpeg's pipe would pause and resume with every chunk. */
const BUFFER_BYTES = 256 * 1024;

/**
 * Copies tracks into one file while it is sent. The stream ends only when every source was read to its end and FFmpeg
 * exited with 0; destroying it ends the process and the reading of the sources.
 *
 * It fails with UnsupportedRendition before its first byte where the container cannot hold a codec.
 *
 * @throws CapacityExceeded when every process is taken, ClientLimitExceeded at the share of the client
 */
export function createMux({ loopback, admission, meter, log }: MuxDependencies): Mux {
  const run = (path: string, work: FfmpegRun, { container }: Pick<MuxFormat, 'container'>) => {
    const { sources, client, minSeconds, release } = work;
    const { others, output } = work.args;
    const inputs = sources.map((source, index) => loopback.serve(source, { index }));
    const queue = inputs.length > 1 ? QUEUE_ARGS : [];
    const inputArgs = inputs.flatMap(({ args, url }, index) => [
      ...[...args, ...queue, ...(others[index - 1] ?? [])],
      ...['-i', url],
    ]);
    const muxed = runFfmpeg({
      path,
      args: [...inputArgs, ...output],
      inputs,
      minSeconds,
      client,
      signal: AbortSignal.any(inputs.map(({ failed }) => failed)),
      onFailure(stderr) {
        meter.onFfmpegFailure();
        log.warn('FFmpeg failed to mux', { stderr });
        return UNWRITABLE.test(stderr) ? refusal(outputFormats[container], 'source') : undefined;
      },
    });
    muxed.once('close', () => {
      for (const input of inputs) input.close();
      release();
    });
    return muxed;
  };

  return ({ path }, work) => {
    const { sources, format, extras, client } = work;
    const release = admission.acquireFfmpeg(client);
    const patch = format.container === 'mp4' ? createHeaderPatch(work) : undefined;
    const outlet = patch ? createHeaderPatchStream(patch) : new PassThrough({ highWaterMark: BUFFER_BYTES });
    const begin = ({ args: { others, output }, ...rest }: FfmpegRun) => {
      const args = { others, output: hasExtras(extras) ? [...output, ...WITHOUT_INDEX_ARGS] : output };
      pipeline(run(path, { ...rest, args }, format), outlet, () => undefined);
    };
    if (!format.isSegmented) {
      begin({ sources, args: format.args(), client, release });
      return outlet;
    }
    const beginWith = (peeked: readonly PeekedSource[]) => {
      const end = () => {
        for (const each of peeked) each.close();
        release();
      };
      if (outlet.destroyed) return end();
      const args = format.args(peeked.map(({ start }) => start));
      const opened = peeked.map(({ source }) => source);
      const least = Math.max(0, ...opened.map((source) => (source.needsRemux && source.minSeconds) || 0));
      begin({ sources: opened, args, client, minSeconds: least || undefined, release: end });
    };
    peekAll(sources, outlet)
      .then(beginWith)
      .catch((error) => {
        release();
        outlet.destroy(error);
      });
    outlet.once('error', () => undefined);
    return outlet;
  };
}

const hasExtras = ({ tags, text }: LayoutExtras = {}): boolean => Boolean(tags ?? text);

/** Undefined: the header stays as FFmpeg writes it. */
function createHeaderPatch({
  durationSeconds: seconds,
  recordedAtMs,
  textEndSeconds = seconds,
  extras,
}: MuxJob): PatchHeader | undefined {
  const withDuration: PatchHeader = (bytes) => {
    const patched = seconds === undefined ? bytes : patchHeaderDuration(bytes, seconds);
    return patched && recordedAtMs !== undefined ? patchCreationTime(patched, recordedAtMs) : patched;
  };
  if (!extras || !hasExtras(extras)) return seconds === undefined ? undefined : withDuration;
  return (bytes) => {
    const patched = withDuration(bytes);
    return patched && extendHeader(patched, extras, textEndSeconds ?? Number.POSITIVE_INFINITY);
  };
}

/** Peeks into all sources. The first failure, or closing the reader, aborts the others. */
async function peekAll(sources: MuxJob['sources'], reader: Readable): Promise<readonly PeekedSource[]> {
  const aborting = new AbortController();
  const abort = () => aborting.abort();
  reader.once('close', abort);
  const peeking = sources.map(async (source) => peekSourceStart(await source, aborting.signal));
  try {
    return await Promise.all(peeking);
  } catch (error) {
    abort();
    for (const each of await Promise.allSettled(peeking)) if (each.status === 'fulfilled') each.value.close();
    throw error;
  } finally {
    reader.off('close', abort);
  }
}

/** Changes the first bytes of a file. @returns all of them; undefined while more are needed */
type PatchHeader = (bytes: Buffer) => Buffer | undefined;

/** Passes a file on with its header changed; buffers the header only. Fails with what `patch` throws. */
export function createHeaderPatchStream(patch: PatchHeader): Transform {
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      if (!head) return done(null, chunk);
      const seen = Buffer.concat([head, chunk]);
      try {
        const patched = patch(seen);
        head = patched ? undefined : seen;
        return patched ? done(null, patched) : done();
      } catch (error) {
        return done(error as Error);
      }
    },
    flush(done) {
      done(null, head);
    },
  });
}
