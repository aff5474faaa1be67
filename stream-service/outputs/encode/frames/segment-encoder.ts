import type { Readable } from 'node:stream';
import { FfmpegFailed, type FfmpegInput, runFfmpeg } from '../../../ffmpeg/index.ts';
import type { Source } from '../../../source/index.ts';
import type { AudioStart, AudioStarts } from './audio-start.ts';
import type { BlockCache } from './block-cache.ts';
import type { EncoderOptions } from './encoder-options.ts';
import type { FrameEncoding } from './frame-encoding.ts';
import type { FrameRange } from './layout.ts';
import { seekSegmented } from './seek-segmented.ts';
import { encodeArgs, planFrameRange, sequentialFilters, withTimestampsFromZero } from './segment-plan.ts';

/** One run of FFmpeg, and which part of its output to keep. */
export interface FrameRangeEncode {
  readonly source: Source;
  readonly encoding: FrameEncoding;
  /** Options before `-i`. */
  readonly inputArgs: readonly string[];
  readonly filters: string;
  readonly skipBytes: number;
  readonly bytes: number;
  /** Bytes of a file that it takes from where it seeks to. */
  readonly expectedBytes?: number;
}

/**
 * Where the sample rate or channels change midway, FFmpeg would reinitialize all filters, which would then count samples
 * from 0 again and replace audio by silence. With this option it fails instead.
 */
const FIXED_FORMAT = ['-reinit_filter', '0'];

/**
 * Encodes a frame range: exactly its bytes, or it throws. It also throws when the source fails in a way that FFmpeg
 * takes for the end of the audio, so that silence never replaces missing audio.
 */
export const encodeFrameRange = (
  { source, encoding, inputArgs, filters, skipBytes, bytes, expectedBytes }: FrameRangeEncode,
  encoder: EncoderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> =>
  withInput({ source, expectedBytes }, encoder, (input) =>
    cut(run(input, [...FIXED_FORMAT, ...inputArgs], encodeArgs(filters, encoding), encoder, signal), skipBytes, bytes),
  );

/** Encodes a source of unknown duration: from its beginning, or live from now, to its end. */
export const encodeSequentially = (
  source: Source,
  encoding: FrameEncoding,
  encoder: EncoderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> =>
  withInput({ source }, encoder, (input) =>
    run(input, [], encodeArgs(sequentialFilters(encoding), encoding), encoder, signal),
  );

async function* withInput(
  { source, expectedBytes }: Pick<FrameRangeEncode, 'source' | 'expectedBytes'>,
  { inputServer }: EncoderOptions,
  encode: (input: FfmpegInput) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const input = inputServer.serve(source, { selection: 'audio', expectedBytes });
  try {
    yield* encode(input);
  } finally {
    input.close();
  }
}

const run = (
  input: FfmpegInput,
  inputArgs: readonly string[],
  outputArgs: readonly string[],
  { path, onFailure }: EncoderOptions,
  signal: AbortSignal,
): Readable =>
  runFfmpeg({
    path,
    args: [...input.args, ...inputArgs, '-i', input.url, ...outputArgs],
    inputs: [input],
    signal: AbortSignal.any([signal, input.failed]),
    onFailure,
  });

/**
 * `length` bytes of FFmpeg's output after the first `skip`. The last chunk is held back until FFmpeg has exited with 0: it
 * may be padding after audio that could not be read.
 */
async function* cut(output: AsyncIterable<Buffer>, skip: number, length: number): AsyncGenerator<Buffer> {
  let toSkip = skip;
  let left = length;
  let held: Buffer | undefined;
  for await (const chunk of output) {
    const part = chunk.subarray(toSkip, toSkip + left);
    toSkip -= Math.min(toSkip, chunk.length);
    left -= part.length;
    if (part.length === 0) continue;
    if (held) yield held;
    held = part;
  }
  if (left > 0) throw new FfmpegFailed(`FFmpeg output is ${left} bytes short`);
  if (held) yield held;
}

export interface FrameRangeEncoderOptions {
  readonly source: Source;
  /** Identifies the content of the source and the FFmpeg build. */
  readonly entity: string;
  readonly encoding: FrameEncoding;
  /** Of the source. @default unknown */
  readonly durationSeconds?: number;
  readonly encoder: EncoderOptions;
  readonly cache: BlockCache;
  readonly starts: AudioStarts;
}

/** Encodes frame ranges of one stream. The audio start that they all need is read once, with the first range. */
export function openFrameRangeEncoder(options: FrameRangeEncoderOptions) {
  const { source, entity, encoding, durationSeconds, encoder, cache, starts } = options;
  const bytesPerSecond = (source.size ?? 0) / (durationSeconds ?? Number.POSITIVE_INFINITY);
  let opened: { readonly source: Source; readonly start: Promise<AudioStart> } | undefined;

  const open = (signal: AbortSignal) => {
    const cached = source.needsRemux ? source : cache.wrap(source, signal);
    const start = starts.find(entity, cached, encoder, signal);
    start.catch(() => undefined); // Every range awaits it below.
    return { source: cached, start };
  };

  return async function* encode(range: FrameRange, signal: AbortSignal): AsyncGenerator<Buffer> {
    opened ??= open(signal);
    const start = await opened.start;
    const { readFromSeconds, readSeconds, filters, ...output } = planFrameRange(range, encoding);

    if (!opened.source.needsRemux) {
      // Without `-noaccurate_seek` FFmpeg would drop the run-up before the filters see it.
      const seek = readFromSeconds > 0 ? ['-noaccurate_seek', '-ss', readFromSeconds.toFixed(3)] : [];
      const inputArgs = [...seek, '-copyts'];
      const expectedBytes = Math.ceil(readSeconds * bytesPerSecond);
      yield* encodeFrameRange(
        { ...output, encoding, source: opened.source, inputArgs, expectedBytes, filters: filters(start) },
        encoder,
        signal,
      );
      return;
    }

    const run = await seekSegmented(opened.source, readFromSeconds, start, encoder, signal);
    try {
      const firstSample = -Math.round(run.offsetSeconds * start.sampleRate);
      const fromRun = withTimestampsFromZero(filters({ ...start, firstSample }));
      yield* encodeFrameRange(
        { ...output, encoding, source: run.source, inputArgs: [], filters: fromRun },
        encoder,
        signal,
      );
    } finally {
      run.close();
    }
  };
}
