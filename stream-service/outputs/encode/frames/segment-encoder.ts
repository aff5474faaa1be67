import { Readable } from 'node:stream';
import { FfmpegFailed, type FfmpegInput, runFfmpeg } from '../../../ffmpeg/index.ts';
import type { Release } from '../../../sessions/index.ts';
import type { Source } from '../../../source/index.ts';
import type { AudioStart, AudioStarts } from './audio-start.ts';
import type { BlockCache } from './block-cache.ts';
import type { EncoderOptions, FrameEncoding } from './frame-encoding.ts';
import type { FrameRange } from './layout.ts';
import { seekSegmented } from './seek-segmented.ts';
import { encodeArgs, planFrameRange, sequentialFilters, withTimestampsFromZero } from './segment-plan.ts';

export interface SequentialStreamOptions {
  readonly source: Source;
  readonly tag: Buffer;
  readonly encoding: FrameEncoding;
  readonly encoder: EncoderOptions;
  /** Takes a slot for a process that runs as long as the stream. @throws CapacityExceeded */
  readonly acquire: () => Release;
}

/**
 * Reads the tag and all audio: of a file from its beginning, of a live source from now on. Destroying it ends the
 * encoder.
 */
export function sequentialStream(options: SequentialStreamOptions): Readable {
  const controller = new AbortController();
  const body = Readable.from(bytes(options, controller.signal), { objectMode: false });
  body.once('close', () => controller.abort());
  return body;
}

async function* bytes(options: SequentialStreamOptions, signal: AbortSignal) {
  const { source, tag, encoding, encoder, acquire } = options;
  const release = acquire();
  try {
    // The tag is sent with the first frames: until then, a failure can still be answered.
    let head = tag;
    for await (const chunk of encodeSequentially(source, encoding, encoder, signal)) {
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      head = head.subarray(head.length);
    }
    if (head.length > 0) throw new Error('The source has no audio');
  } finally {
    release();
  }
}

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
  { path, client, onFailure }: EncoderOptions,
  signal: AbortSignal,
): Readable =>
  runFfmpeg({
    path,
    args: [...input.args, ...inputArgs, '-i', input.url, ...outputArgs],
    inputs: [input],
    client,
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
  /** Duration of the source. @default unknown */
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
      const originSample = -Math.round(run.offsetSeconds * start.sampleRate);
      const fromRun = withTimestampsFromZero(filters({ ...start, originSample }));
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
