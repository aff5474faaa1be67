import { fullBox, integers, LARGE_BOX_HEADER_BYTES, type SampleTable, u32, u64 } from '../isobmff/index.ts';
import type { TextChunk, TextTrack } from '../text/text-track.ts';
import type { LayoutBuilder } from './layout.ts';
import type { SourceIndex } from './layout-source.ts';

/** Players read whole chunks: with chunks of many seconds, a seek reads megabytes that are discarded. */
export const MAX_CHUNK_SECONDS = 1;
export const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

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
  const limits = { maxUnits: MAX_CHUNK_SECONDS * timescale, maxBytes: MAX_CHUNK_BYTES, fileBytes };
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

/** A chunk of a source in its place in the output. */
export interface PlacedChunk {
  /** Position of the track in the output. */
  readonly track: number;
  readonly source: SourceIndex;
  readonly chunk: SampleChunk;
}

/** Samples of a text track, which are bytes of the layout. */
export interface PlacedText {
  readonly track: number;
  readonly text: TextChunk;
}

export type Placed = PlacedChunk | PlacedText;

/** Bytes in the output. */
export const bytesOf = (placed: Placed): number => ('text' in placed ? placed.text.bytes.length : placed.chunk.bytes);

/** The chunks of a track, in decode order. */
interface ChunkedTrack {
  readonly source: SourceIndex;
  readonly chunks: readonly SampleChunk[];
}

/**
 * The chunks of some tracks. Those of different files by decode time; those of one file as they follow each other there, so
 * that it is read once. Of equals, the first track comes first.
 */
export function interleave(tracks: readonly ChunkedTrack[]): readonly PlacedChunk[] {
  const isOneFile = tracks.every(({ source }) => source === tracks[0]?.source);
  const position = ({ chunk }: PlacedChunk) => (isOneFile ? chunk.sourceOffset : chunk.startSeconds);
  return tracks
    .flatMap(({ source, chunks }, track) => chunks.map((chunk) => ({ track, source, chunk })))
    .sort((a, b) => position(a) - position(b));
}

/**
 * Places text before the media that is shown with it.
 * @param firstTrack position of the first text track
 * @param startSeconds decode time at which the text counts from 0
 */
export function placeText(
  order: readonly PlacedChunk[],
  texts: readonly TextTrack[],
  { firstTrack, startSeconds = 0 }: { readonly firstTrack: number; readonly startSeconds?: number },
): readonly Placed[] {
  const chunks = texts
    .flatMap((track, index) => track.chunks.map((text): PlacedText => ({ track: firstTrack + index, text })))
    .toSorted((a, b) => a.text.startSeconds - b.text.startSeconds);
  const placed: Placed[] = [];
  let next = 0;
  const addUntil = (seconds: number) => {
    for (let chunk = chunks[next]; chunk && chunk.text.startSeconds <= seconds; chunk = chunks[++next])
      placed.push(chunk);
  };
  for (const each of order) {
    addUntil(each.chunk.startSeconds - startSeconds);
    placed.push(each);
  }
  addUntil(Number.POSITIVE_INFINITY);
  return placed;
}

/** Adds an `mdat` with a header of `LARGE_BOX_HEADER_BYTES`. */
export function addMedia(layout: LayoutBuilder, order: readonly Placed[]): void {
  const bytes = order.reduce((sum, placed) => sum + bytesOf(placed), LARGE_BOX_HEADER_BYTES);
  layout.addOwn(Buffer.concat([u32(1), Buffer.from('mdat'), u64(bytes)]));
  layout.beginMedia();
  for (const placed of order) {
    if ('text' in placed) layout.addOwn(placed.text.bytes);
    else layout.addSamples(placed.source, placed.chunk.sourceOffset, placed.chunk.bytes);
  }
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
