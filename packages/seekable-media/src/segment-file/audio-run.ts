import { type AudioSample, FRAME_HEADER_BYTES, readSample } from '../elementary/index.ts';
import { type RunSample, UnsupportedMp4 } from '../isobmff/index.ts';
import type { EsStream } from '../mpegts/demux.ts';
import { CLOCK_HZ, ticksBetween } from '../mpegts/packets.ts';
import { type Mutable, TooManyPieces } from './segment-format.ts';

/** Frames of one segment. */
const MAX_FRAMES = 200_000;
/** Times of packets are rounded, and repeat where two segments meet; farther back is another clock. */
const MAX_BACKWARDS_SECONDS = 0.5;
const MAX_GAP_SECONDS = 60;

/** Audio as a segment has it: frames, and packets that say when some of them are heard. */
export interface AudioFrames {
  readonly ticks: number;
  readonly rate: number;
  readonly signature: string;
  readonly samples: readonly RunSample[];
  readonly data: readonly Buffer[];
}

/** The first frame of a stream; undefined where its header is not there yet. */
export function firstFrame({ codec, data }: EsStream): AudioSample | undefined {
  const header = data.subarray(0, FRAME_HEADER_BYTES);
  return header.length < FRAME_HEADER_BYTES ? undefined : readSample(codec, header);
}

/**
 * All frames of a stream. They follow each other without gaps, unless the packets have one. Its data is overwritten.
 * @throws UnsupportedMp4 for anything but whole frames of one kind, TooManyPieces
 */
export function readFrames(
  { codec, packets, data: bytes }: EsStream,
  maxFrames = Number.POSITIVE_INFINITY,
): AudioFrames | undefined {
  const [start] = packets;
  if (!start) return undefined;
  if (start.ticks === undefined) throw new UnsupportedMp4('Audio without a time');
  const marks = packets.values();
  let mark = marks.next();
  const samples: Mutable<RunSample>[] = [];
  /** Where the payloads of the frames end, which are moved to the front without their headers. */
  let end = 0;
  let first: AudioSample | undefined;
  /** In samples of sound since the first frame. */
  let time = 0;
  for (let at = 0; at < bytes.length; ) {
    const header = bytes.subarray(at, at + FRAME_HEADER_BYTES);
    // A frame that is not whole is left out. Where the next segment has the rest of it, that begins with no frame.
    if (header.length < FRAME_HEADER_BYTES) break;
    if (samples.length === MAX_FRAMES) throw new UnsupportedMp4('Too many frames of audio');
    if (samples.length >= maxFrames) throw new TooManyPieces();
    const frame = readSample(codec, header);
    if (at + frame.bytes > bytes.length) break;
    first ??= frame;
    if (frame.signature !== first.signature) throw new UnsupportedMp4('Audio that changes within a segment');
    let listed: number | undefined;
    for (; !mark.done && mark.value.at <= at; mark = marks.next()) listed = mark.value.ticks ?? listed;
    if (listed !== undefined) {
      const gap = Math.round((ticksBetween(start.ticks, listed) * frame.rate) / CLOCK_HZ) - time;
      if (gap < -MAX_BACKWARDS_SECONDS * frame.rate || gap > MAX_GAP_SECONDS * frame.rate)
        throw new UnsupportedMp4('Audio of several clocks');
      const last = samples.at(-1);
      if (last && gap > frame.duration / 2) {
        last.duration += gap;
        time += gap;
      }
    }
    const size = frame.bytes - frame.headerBytes;
    samples.push({ duration: frame.duration, size, compositionOffset: 0, isSync: true });
    bytes.copyWithin(end, at + frame.headerBytes, at + frame.bytes);
    end += size;
    time += frame.duration;
    at += frame.bytes;
  }
  return (
    first && {
      ticks: start.ticks,
      rate: first.rate,
      signature: first.signature,
      samples,
      data: [bytes.subarray(0, end)],
    }
  );
}
