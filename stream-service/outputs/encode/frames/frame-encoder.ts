import type { Readable } from 'node:stream';
import { abortable } from '@reelay/concurrency';
import { generatedStream } from '@reelay/guarded-fetch';
import type { FileSource, Source } from '@reelay/source';
import type { Name } from '@reelay/source/names';
import { FfmpegFailed, type FfmpegInput, runFfmpeg } from '../../../ffmpeg/index.ts';
import type { Release } from '../../../sessions/index.ts';
import type { ComputedExtents, SharedFile } from '../../computed-extents.ts';
import type { AudioStart, AudioStarts, EncoderOptions } from './audio-start.ts';
import { withBlocks } from './block-cache.ts';
import { type FrameEncoding, type FrameLayout, type FrameRange, layoutBytes } from './frame-layout.ts';

/** What is encoded from the beginning of a source. */
export interface Sequence {
  readonly tag: Buffer;
  readonly encoding: FrameEncoding;
  /** The frames to make of it. @default as many as there are */
  readonly layout?: FrameLayout;
}

interface SequentialStreamOptions extends Sequence {
  readonly source: Source;
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
  return generatedStream(bytes(options, controller.signal), () => controller.abort(new Error('Reading ended')));
}

async function* bytes(options: SequentialStreamOptions, signal: AbortSignal) {
  const { tag, acquire } = options;
  const release = acquire();
  try {
    // The tag is sent with the first frames: until then, a failure can still be answered.
    let head = tag;
    for await (const chunk of encodeSequentially(options, signal)) {
      yield head.length > 0 ? Buffer.concat([head, chunk]) : chunk;
      head = head.subarray(head.length);
    }
    if (head.length > 0) throw new Error('The source has no audio');
  } finally {
    release();
  }
}

/** One run of FFmpeg, and which part of its output to keep. */
interface FrameRangeEncode {
  readonly source: Source;
  readonly encoding: FrameEncoding;
  /** Options before `-i`. */
  readonly inputArgs: readonly string[];
  readonly filters: string;
  readonly skipBytes: number;
  readonly bytes: number;
  /** Bytes of a file that it takes from where it seeks to. */
  readonly expectedBytes?: number;
  /** Its stream waits for every frame. @default it is read ahead */
  readonly isFirst?: boolean;
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
const encodeFrameRange = (
  { source, encoding, inputArgs, filters, skipBytes, bytes, expectedBytes, isFirst = false }: FrameRangeEncode,
  encoder: EncoderOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> =>
  withInput({ source, expectedBytes }, encoder, (input) =>
    cut(
      runEncoder(input, [...FIXED_FORMAT, ...inputArgs], encodeArgs(filters, encoding, isFirst), encoder, signal),
      skipBytes,
      bytes,
    ),
  );

/** Encodes a source from its beginning, or live from now, to its end. */
function encodeSequentially(
  { source, encoding, layout, encoder }: SequentialStreamOptions,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  if (!layout)
    return withInput({ source }, encoder, (input) =>
      runEncoder(input, [], encodeArgs(sequentialFilters(encoding), encoding), encoder, signal),
    );
  const { frames, tagBytes } = layout;
  const all = { group: 0, firstFrame: 0, endFrame: frames, slice: [0, layoutBytes(layout) - tagBytes] } as const;
  const plan = planFrameRange(all, encoding);
  const filters = withTimestampsFromZero(plan.filters({ sampleRate: encoding.sampleRate, originSample: 0 }));
  return encodeFrameRange({ ...plan, source, encoding, inputArgs: [], filters }, encoder, signal);
}

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

const runEncoder = (
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

interface FrameRangeEncoderOptions {
  readonly source: FileSource;
  /** Identifies the content of the source and the FFmpeg build. */
  readonly entity: Name;
  readonly encoding: FrameEncoding;
  /** Duration of the source. @default unknown */
  readonly durationSeconds?: number;
  readonly encoder: EncoderOptions;
  readonly extents: ComputedExtents;
  readonly starts: AudioStarts;
  /** The conversion. */
  readonly shared: Pick<SharedFile, 'note'>;
}

/**
 * Encodes frame ranges of one stream. The audio start that they all need is read once, with the first range, and blocks of the source
 * are kept until the signal of the stream aborts.
 */
export function openFrameRangeEncoder(options: FrameRangeEncoderOptions) {
  const { source, entity, encoding, durationSeconds, encoder, extents, starts, shared } = options;
  const bytesPerSecond = (source.size ?? 0) / (durationSeconds ?? Number.POSITIVE_INFINITY);
  let opened: { readonly source: FileSource; readonly start: Promise<AudioStart> } | undefined;

  const open = (signal: AbortSignal) => {
    const { size, fragments } = source;
    // Segments of lists are kept where they are made.
    const note = (first: number, bytes: Buffer) => shared.note(0, first, bytes);
    const cached = size === undefined || fragments ? source : withBlocks({ ...source, size }, extents, signal, note);
    const start = starts.find(entity, cached, encoder, signal);
    start.catch(() => undefined); // Every range awaits it below.
    return { source: cached, start };
  };

  return async function* encode(range: FrameRange, signal: AbortSignal, ofStream: AbortSignal): AsyncGenerator<Buffer> {
    const isFirst = opened === undefined;
    opened ??= open(ofStream);
    const start = await abortable(opened.start, signal);
    const { readFromSeconds, readSeconds, filters, ...output } = planFrameRange(range, encoding);
    // Without `-noaccurate_seek` FFmpeg would drop the run-up before the filters see it.
    const seek = readFromSeconds > 0 ? ['-noaccurate_seek', '-ss', readFromSeconds.toFixed(3)] : [];
    const inputArgs = [...seek, '-copyts'];
    const expectedBytes = Math.ceil(readSeconds * bytesPerSecond);
    yield* encodeFrameRange(
      { ...output, encoding, isFirst, source: opened.source, inputArgs, expectedBytes, filters: filters(start) },
      encoder,
      signal,
    );
  };
}

/**
 * Frames that resampler and encoder process before a group, so that its boundary is seamless. A multiple of 5, as
 * groups are.
 */
const PREROLL_FRAMES = 10;
/**
 * Durations of sources are this inexact: some seconds and a tenth, at most two minutes. A larger difference is a false
 * promise: hours of silence for a few bytes, or a source that ended early.
 */
const paddingSeconds = (endSeconds: number): number => Math.min(10 + endSeconds / 10, 120);
/** Seconds read before the seek position: decoders need preroll, and containers interleave audio inexactly. */
const RUN_UP_SECONDS = 3;

/**
 * Gaps in timestamps that are filled, and overlaps that are dropped, from this length on: less than a packet of any codec in
 * use, more than the rounding of timestamps. FFmpeg's default is 0.1 s.
 */
const FOLLOW_TIMESTAMPS = 'async=1:min_hard_comp=0.01';
/** Always stereo: players meet one kind of frame, and the frame size does not depend on the channels. */
const STEREO = 'aformat=channel_layouts=stereo';

/** Filters of a sequential conversion, which ends with the audio. */
const sequentialFilters = ({ sampleRate }: FrameEncoding) => `aresample=${sampleRate}:${FOLLOW_TIMESTAMPS},${STEREO}`;

/**
 * Output arguments for the first audio track.
 * @param isFlushed FFmpeg writes each frame, not 32 KB: of MP3 a second and a half, of which the first byte waits for two
 */
const encodeArgs = (filters: string, { outputArgs }: FrameEncoding, isFlushed = false): string[] => [
  ...['-map', '0:a:0', '-af', filters, '-flush_packets', isFlushed ? '1' : '0'],
  ...outputArgs,
];

/** How to encode a frame range: what to read of the source, and which part of FFmpeg's output to keep. */
interface FrameRangePlan {
  /** Seconds of the time line at which reading starts; 0: from the start of the source. */
  readonly readFromSeconds: number;
  /** Seconds of the source that are needed from there. */
  readonly readSeconds: number;
  /** The audio filters, by the timestamp that the start of the time line has in what is read. */
  readonly filters: (start: Pick<AudioStart, 'sampleRate' | 'originSample'>) => string;
  /** Bytes of output to drop at the start. */
  readonly skipBytes: number;
  /** Bytes of output to keep after them. */
  readonly bytes: number;
}

/**
 * Plans the encode of a frame range. Decoding and resampling always start with the group, so that samples are a
 * function of the group alone; the encoder starts shortly before the range.
 *
 * Gaps in the source's timestamps are filled with silence (`async=1`), as is the time before the first sample: closing
 * them would repeat the end of a group at the start of the next. Audio that ends early is padded (`apad`), up to
 * `paddingSeconds`: where it ends earlier, the output is too short, which fails the stream.
 */
function planFrameRange(
  { group, firstFrame, endFrame, slice: [from, to] }: FrameRange,
  encoding: FrameEncoding,
): FrameRangePlan {
  const { frameBytes, frameSamples, groupFrames, warmUpFrames, lookAheadFrames } = encoding;
  const frameSeconds = frameSamples / encoding.sampleRate;
  const decodeFrame = Math.max(group * groupFrames - PREROLL_FRAMES, 0);
  const encodeFrame = Math.max(firstFrame - warmUpFrames, decodeFrame);
  const decodeSeconds = decodeFrame * frameSeconds;
  const startSample = (encodeFrame - decodeFrame) * frameSamples;
  const endSample = (endFrame + lookAheadFrames - decodeFrame) * frameSamples;

  const readFromSeconds = Math.max(decodeSeconds - RUN_UP_SECONDS, 0);

  return {
    readFromSeconds,
    readSeconds: (endFrame + lookAheadFrames) * frameSeconds - readFromSeconds,
    filters({ sampleRate, originSample }) {
      const first = originSample + Math.round(decodeSeconds * sampleRate);
      return [
        `atrim=start_pts=${first}`,
        `asetpts=PTS-(${first})`,
        `aresample=${encoding.sampleRate}:${FOLLOW_TIMESTAMPS}:first_pts=0`,
        STEREO,
        `apad=pad_dur=${paddingSeconds(endFrame * frameSeconds).toFixed(3)}`,
        `atrim=start_sample=${startSample}:end_sample=${endSample}`,
      ].join();
    },
    skipBytes: (firstFrame - encodeFrame) * frameBytes + from,
    bytes: to - from,
  };
}

/** Shifts timestamps so that the first audio sample read has timestamp 0. */
const withTimestampsFromZero = (filters: string): string => `asetpts=PTS-STARTPTS,${filters}`;
