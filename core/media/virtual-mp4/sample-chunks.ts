import { fullBox, integers, type SampleTable, u32 } from '../isobmff/index.ts';
import type { SourceIndex } from './layout.ts';

/** Players read whole chunks: with chunks of many seconds, a seek reads megabytes that are discarded. */
const CHUNK_SECONDS = 1;
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

/** Consecutive samples of one description, contiguous in the source. */
export interface SampleChunk {
  /** Decode time of the first sample. */
  readonly startSeconds: number;
  readonly sourceOffset: number;
  readonly bytes: number;
  readonly samples: number;
  /** Sample description index, from 1. */
  readonly description: number;
}

/**
 * Cuts the samples of a track into chunks of about one second.
 * @param fileBytes size of the source
 * @returns the chunks, and the duration in seconds
 * @throws UnsupportedMp4 when samples are not in decode order, and Error when one lies beyond the end: the file is truncated
 */
export function cutChunks(table: SampleTable, timescale: number, fileBytes: number) {
  const limits = { maxUnits: CHUNK_SECONDS * timescale, maxBytes: MAX_CHUNK_BYTES, fileBytes };
  const { spans, duration } = table.cut(limits);
  const chunks = spans.map(
    ({ startTime, offset, bytes, samples, description }): SampleChunk => ({
      startSeconds: startTime / timescale,
      sourceOffset: offset,
      bytes,
      samples,
      description,
    }),
  );
  return { chunks, seconds: duration / timescale };
}

/** A chunk of one of two sources. */
export interface PlacedChunk {
  readonly source: SourceIndex;
  readonly chunk: SampleChunk;
}

/** The chunks of both tracks by decode time; of equals, the video first. */
export function interleave(video: readonly SampleChunk[], audio: readonly SampleChunk[]): readonly PlacedChunk[] {
  const order: PlacedChunk[] = [];
  let next = 0;
  for (const chunk of video) {
    for (let earlier = audio[next]; earlier && earlier.startSeconds < chunk.startSeconds; earlier = audio[next]) {
      order.push({ source: 1, chunk: earlier });
      next += 1;
    }
    order.push({ source: 0, chunk });
  }
  for (const chunk of audio.slice(next)) order.push({ source: 1, chunk });
  return order;
}

/** `stsc` (ISO/IEC 14496-12 §8.7.4): a row for each run of chunks with as many samples of the same description. */
export function sampleToChunk(chunks: readonly SampleChunk[]): Buffer {
  const rows: number[] = [];
  let last: SampleChunk | undefined;
  for (const [index, chunk] of chunks.entries()) {
    const isRun = last?.samples === chunk.samples && last.description === chunk.description;
    if (!isRun) rows.push(index + 1, chunk.samples, chunk.description);
    last = chunk;
  }
  return fullBox('stsc', 0, 0, u32(rows.length / 3), integers(rows));
}
