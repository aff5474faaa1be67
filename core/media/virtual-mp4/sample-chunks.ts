import { type SampleTable, UnsupportedMp4 } from '../isobmff/index.ts';

/** Players read whole chunks: with chunks of many seconds, a seek reads megabytes in vain. */
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
  const chunks: SampleChunk[] = [];
  const sample = table.cursor();
  const maxUnits = CHUNK_SECONDS * timescale;
  let end = 0;
  let [startTime, sourceOffset, bytes, samples, description] = [0, 0, 0, 0, 0];
  const close = () => {
    if (samples > 0) chunks.push({ startSeconds: startTime / timescale, sourceOffset, bytes, samples, description });
  };
  while (sample.next()) {
    if (sample.offset < end) throw new UnsupportedMp4('Samples out of order');
    const isAdjacent = sample.offset === end && sample.description === description;
    if (!isAdjacent || sample.decodeTime - startTime >= maxUnits || bytes + sample.size > MAX_CHUNK_BYTES) {
      close();
      [startTime, sourceOffset, bytes, samples] = [sample.decodeTime, sample.offset, 0, 0];
      description = sample.description;
    }
    end = sample.offset + sample.size;
    if (!(end <= fileBytes)) throw new Error('The file ends before what its header describes');
    bytes += sample.size;
    samples += 1;
  }
  close();
  return { chunks, seconds: (sample.decodeTime + sample.duration) / timescale };
}
