import type { SampleTable } from '../isobmff/index.ts';

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
