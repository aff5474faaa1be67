import { addAbortSignal, Readable } from 'node:stream';
import type { SegmentedSource } from '../../../source/index.ts';
import { type AudioStart, findAudioStart } from './audio-start.ts';
import type { EncoderOptions } from './frame-encoding.ts';

/** Bytes searched for the first audio frame. */
const MAX_HEAD_BYTES = 1024 * 1024;
/** Attempts with an earlier position when the playlist leads past the requested one. */
const MAX_ATTEMPTS = 4;

/** A read of a segmented source whose position in time is known. */
export interface LocatedSegments {
  /** Yields this read once, whatever position is requested. */
  readonly source: SegmentedSource;
  /** Seconds from the first audio sample of the whole source to the first one here. */
  readonly offsetSeconds: number;
  close(): void;
}

/**
 * Opens a segmented source at or before `seconds`, counted from its first audio sample.
 *
 * @param start timestamp of the source at that first sample
 */
export async function seekSegmented(
  source: SegmentedSource,
  seconds: number,
  start: AudioStart,
  encoder: EncoderOptions,
  signal: AbortSignal,
): Promise<LocatedSegments> {
  let from = seconds;
  for (let left = MAX_ATTEMPTS; ; left -= 1) {
    const { stream, startSeconds } = source.readFrom(from, 'audio');
    const close = () => void stream.destroy();
    const once = (stream: Readable) => onceFrom(stream, source);
    if (startSeconds === 0) return { source: once(stream), offsetSeconds: 0, close };

    const chunks = addAbortSignal(signal, stream).iterator() as AsyncIterator<Buffer>;
    const head = await readHead(chunks);
    const run = await findAudioStart(once(Readable.from(head)), quiet(encoder), signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return undefined; // No audio in the head: the position by the playlist has to suffice.
    });
    const offsetSeconds = runOffsetSeconds(start, run, startSeconds, source.hasDiscontinuity);
    if (offsetSeconds <= seconds || left === 1) {
      return { source: once(Readable.from(chain(head, chunks))), offsetSeconds, close };
    }
    close();
    from = Math.max(startSeconds - (offsetSeconds - seconds) - 1, 0);
  }
}

async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer[]> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < MAX_HEAD_BYTES; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    head.push(value);
    bytes += value.length;
  }
  return head;
}

async function* chain(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  yield* { [Symbol.asyncIterator]: () => rest };
}

const onceFrom = (stream: Readable, source: SegmentedSource): SegmentedSource => ({
  ...source,
  durationSeconds: undefined,
  readFrom: () => ({ stream, startSeconds: 0 }),
  close: () => undefined,
});

/** FFmpeg reports an error for every truncated head: those are not logged. */
const quiet = (encoder: EncoderOptions): EncoderOptions => ({ ...encoder, onFailure: () => undefined });

/** Seconds after which the 33-bit timestamps of MPEG-TS wrap around (ISO/IEC 13818-1 §2.4.3.7: 90 kHz). */
const TIMESTAMP_PERIOD_SECONDS = 2 ** 33 / 90_000;
/** Playlists round durations: timestamps and playlist that differ by less mean the same position. */
const TOLERANCE_SECONDS = 30;
/** The same across a discontinuity, whose timestamps may be off by little, too. */
const DISCONTINUITY_TOLERANCE_SECONDS = 1;

/**
 * Seconds from the first audio sample of a segmented source to the first one of a read within it.
 *
 * Exact by timestamps, where they are continuous through the whole source. Where each segment counts from 0 (packed MP3
 * and AAC) or timestamps were reset in between (advertisements), by the playlist.
 *
 * @param source timestamp of the first audio sample of the source
 * @param run timestamp of the first one of the read, if one was found
 * @param startSeconds start of the read by the playlist
 * @param hasDiscontinuity whether the playlist declares that timestamps are reset in between
 */
export function runOffsetSeconds(
  source: AudioStart,
  run: AudioStart | undefined,
  startSeconds: number,
  hasDiscontinuity = false,
): number {
  if (!run || startSeconds === 0) return startSeconds;
  const measured = clock(run) - clock(source);
  const wraps = Math.round((startSeconds - measured) / TIMESTAMP_PERIOD_SECONDS);
  const offset = measured + wraps * TIMESTAMP_PERIOD_SECONDS;
  const apart = Math.abs(offset - startSeconds);
  return apart < (hasDiscontinuity ? DISCONTINUITY_TOLERANCE_SECONDS : TOLERANCE_SECONDS) && apart < Math.abs(offset)
    ? offset
    : startSeconds;
}

const clock = ({ firstSample, sampleRate }: AudioStart): number => firstSample / sampleRate;
