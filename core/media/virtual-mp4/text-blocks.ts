import { BOX_HEADER_BYTES, boxHeader, type OutputTrack } from '../isobmff/index.ts';
import { type TextChunk, type TextTrack, textTables } from '../timed-text/index.ts';
import type { OutputFragment } from './fragmented-track.ts';

/** Samples of a text track in an `mdat` of their own, between fragments. */
export interface TextBlock {
  readonly startSeconds: number;
  /** In the output. */
  readonly bytes: Buffer;
  readonly chunks: readonly TextChunk[];
}

/**
 * A text track in a fragmented file has its sample tables in `moov`, and its samples between the fragments: libavformat up to
 * version 7 ignores the durations of samples in fragments, and so would show no text.
 * @returns a block for each fragment of the video with which text begins
 */
export function textBlocks(track: TextTrack, video: readonly OutputFragment[]): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let next = 0;
  for (const [index, { startSeconds }] of video.entries()) {
    const until = video[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    const chunks: TextChunk[] = [];
    for (let chunk = track.chunks[next]; chunk && chunk.startSeconds < until; chunk = track.chunks[++next]) {
      chunks.push(chunk);
    }
    if (chunks.length === 0) continue;
    const content = chunks.map(({ bytes }) => bytes);
    const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
    blocks.push({ startSeconds, chunks, bytes: Buffer.concat([boxHeader('mdat', size), ...content], size) });
  }
  return blocks;
}

/**
 * The track with the places of its samples.
 * @param offsets of the blocks in the output, in their order
 */
export function placedText(track: TextTrack, blocks: readonly TextBlock[], offsets: readonly number[]): OutputTrack {
  const chunkOffsets = blocks.flatMap(({ chunks }, index) => {
    let offset = (offsets[index] ?? 0) + BOX_HEADER_BYTES;
    return chunks.map(({ bytes }) => {
      const start = offset;
      offset += bytes.length;
      return start;
    });
  });
  return { ...track, sampleTables: textTables(track, chunkOffsets) };
}
