import type { Readable } from 'node:stream';
import { FfmpegFailed, type FfmpegInput, runFfmpeg } from '../../ffmpeg/index.ts';
import type { Source } from '../../source/index.ts';
import type { EncoderOptions } from './encoder-options.ts';
import { encodeArgs, WHOLE_FILTERS } from './segment-plan.ts';

/** One run of FFmpeg, and which of the bytes it writes are wanted. */
export interface FrameRangeEncode {
  readonly source: Source;
  /** Options before `-i`. */
  readonly inputArgs: readonly string[];
  readonly filters: string;
  readonly skipBytes: number;
  readonly bytes: number;
}

/**
 * Where sample rate or channels change midway, FFmpeg would begin all filters anew: those of a piece would count its
 * samples from there once more, and put silence where sound is. So it fails instead.
 */
const FIXED_FORMAT = ['-reinit_filter', '0'];

/**
 * Encodes a piece: exactly its bytes, or it throws. It also throws when the source fails in a way that FFmpeg takes for
 * the end of the audio, so that silence is never sent in its place.
 */
export const encodeFrameRange = (
  { source, inputArgs, filters, skipBytes, bytes }: FrameRangeEncode,
  encoder: EncoderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> =>
  withInput(source, encoder, (input) =>
    cut(run(input, [...FIXED_FORMAT, ...inputArgs], filters, encoder, signal), skipBytes, bytes),
  );

/** The conversion of a source whose duration nobody knows: from its beginning, or from now, until it ends. */
export const encodeWhole = (source: Source, encoder: EncoderOptions, signal: AbortSignal): AsyncGenerator<Buffer> =>
  withInput(source, encoder, (input) => run(input, [], WHOLE_FILTERS, encoder, signal));

async function* withInput(
  source: Source,
  { inputServer }: EncoderOptions,
  encode: (input: FfmpegInput) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const input = inputServer.serve(source, { wanted: 'sound' });
  try {
    yield* encode(input);
  } finally {
    input.close();
  }
}

const run = (
  input: FfmpegInput,
  inputArgs: readonly string[],
  filters: string,
  { path, onFailure }: EncoderOptions,
  signal: AbortSignal,
): Readable =>
  runFfmpeg({
    path,
    args: [...input.args, ...inputArgs, '-i', input.url, ...encodeArgs(filters)],
    signal: AbortSignal.any([signal, input.failed]),
    onFailure,
  });

/**
 * `length` bytes of what FFmpeg writes, after the first `skip`. The last of them are held back until FFmpeg has ended
 * well: they may be silence after audio that it could not read.
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
  if (left > 0) throw new FfmpegFailed(`FFmpeg wrote ${left} bytes too few`);
  if (held) yield held;
}
