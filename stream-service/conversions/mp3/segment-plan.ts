import {
  MP3_BITRATE_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
} from '../../../core/conversions/mp3/index.ts';
import type { AudioStart } from './audio-start.ts';
import { type FrameRange, SEGMENT_FRAMES } from './layout.ts';

/**
 * Frames that resampler and encoder run before a segment begins, so that its joint is smooth. A multiple of 5, as
 * segments are.
 */
const PREROLL_FRAMES = 10;
/**
 * Frames after which LAME has forgotten where it began (its longest memory is the adaption to loudness, some 100
 * frames): from there on it writes the bytes of the encode that ran through from the start of the segment.
 */
const WARM_UP_FRAMES = 200;
/** Frames LAME looks ahead, rounded up. They are cut off again. */
const LOOK_AHEAD_FRAMES = 3;
/** Seconds before the place sought: decoders need a run-up, and containers store sound a little apart from its time. */
const RUN_UP_SECONDS = 3;

const FRAME_SECONDS = MP3_SAMPLES_PER_FRAME / MP3_SAMPLE_RATE;

/** Always stereo: players decode one kind of frame, and the size of a frame does not depend on it. */
const STEREO = 'aformat=channel_layouts=stereo';

/** The filters of a conversion from the beginning to wherever the audio ends. */
export const WHOLE_FILTERS = `aresample=${MP3_SAMPLE_RATE}:async=1,${STEREO}`;

/**
 * Output arguments for the first audio track: nothing but frames, each of `MP3_FRAME_BYTES`, none borrowing bits from
 * another.
 */
export const encodeArgs = (filters: string): string[] => [
  ...['-map', '0:a:0', '-af', filters, '-c:a', 'libmp3lame', '-b:a', `${MP3_BITRATE_KBPS}k`, '-reservoir', '0'],
  ...['-write_xing', '0', '-id3v2_version', '0', '-flush_packets', '0', '-f', 'mp3'],
];

/** How to encode a piece: what to ask of the source, and what of FFmpeg's output is the piece. */
export interface PiecePlan {
  /** Seconds from the first audio sample at which to begin to read; 0: from the start. */
  readonly readFromSeconds: number;
  /** The audio filters, given where the clock of what is read stands at the first audio sample of the source. */
  readonly filters: (start: AudioStart) => string;
  /** Bytes of output before the wanted ones. */
  readonly skipBytes: number;
  /** Bytes wanted. */
  readonly bytes: number;
}

/**
 * Plans the encode of a piece. Decoding and resampling always begin where the segment begins, so that the samples are a
 * function of the segment alone; the encoder begins shortly before the piece.
 *
 * Time counts from the first audio sample. Gaps in the source's timestamps are filled with silence (`async=1`): closing
 * them up would let the end of a segment be heard again at the start of the next. Audio that ends too soon goes on in
 * silence (`apad`).
 */
export function planPiece({ segment, firstFrame, endFrame, slice: [from, to] }: FrameRange): PiecePlan {
  const decodeFrame = Math.max(segment * SEGMENT_FRAMES - PREROLL_FRAMES, 0);
  const encodeFrame = Math.max(firstFrame - WARM_UP_FRAMES, decodeFrame);
  const decodeSeconds = decodeFrame * FRAME_SECONDS;
  const startSample = (encodeFrame - decodeFrame) * MP3_SAMPLES_PER_FRAME;
  const endSample = (endFrame + LOOK_AHEAD_FRAMES - decodeFrame) * MP3_SAMPLES_PER_FRAME;

  return {
    readFromSeconds: Math.max(decodeSeconds - RUN_UP_SECONDS, 0),
    filters({ sampleRate, firstSample }) {
      const first = firstSample + Math.round(decodeSeconds * sampleRate);
      return [
        `atrim=start_pts=${first}`,
        `asetpts=PTS-(${first})`,
        `aresample=${MP3_SAMPLE_RATE}:async=1:first_pts=0`,
        STEREO,
        'apad',
        `atrim=start_sample=${startSample}:end_sample=${endSample}`,
      ].join();
    },
    skipBytes: (firstFrame - encodeFrame) * MP3_FRAME_BYTES + from,
    bytes: to - from,
  };
}

/** Lets the clock of what is read begin at 0 with its first audio sample. */
export const fromItsStart = (filters: string): string => `asetpts=PTS-STARTPTS,${filters}`;
