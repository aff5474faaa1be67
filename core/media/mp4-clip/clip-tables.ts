import { fullBox, integers, type Sample, UnsupportedMp4, u32 } from '../isobmff/index.ts';
import { type SampleChunk, sampleToChunk } from '../virtual-mp4/index.ts';
import type { ClipWindow } from './clip-window.ts';

/** Maximum duration of a chunk. */
const CHUNK_SECONDS = 1;
/** Maximum size of a chunk. */
const MAX_CHUNK_BYTES = 16 * 1024 * 1024;

/** The samples of a clip as their sample tables describe them. */
export interface ClipTables {
  readonly chunks: readonly SampleChunk[];
  /** Of all samples, in units of the media. */
  readonly duration: number;
  /** Children of `stbl` but `stsd`, with the chunks at these offsets. */
  boxes(chunkOffsets: readonly number[]): readonly Buffer[];
}

/** Tables for the samples of a window, cut into chunks that are contiguous in the source. */
export function clipTables(window: ClipWindow): ClipTables {
  const { header } = window.track;
  const durations = new RunLengths();
  const compositionOffsets = new RunLengths();
  const sizes: number[] = [];
  const syncs: number[] = [];
  const chunks: MutableChunk[] = [];
  let duration = 0;
  for (const sample of samplesOf(window)) {
    durations.add(sample.duration);
    compositionOffsets.add(sample.compositionOffset + window.compositionShift);
    sizes.push(sample.size);
    if (sample.isSync) syncs.push(sizes.length);
    appendToChunks(chunks, sample, header.timescale);
    duration += sample.duration;
  }
  const isReordered = compositionOffsets.rows.some((value, index) => index % 2 === 1 && value !== 0);
  return {
    chunks,
    duration,
    boxes(chunkOffsets) {
      const positions = Buffer.alloc(chunkOffsets.length * 8);
      for (const [index, offset] of chunkOffsets.entries()) positions.writeBigUInt64BE(BigInt(offset), index * 8);
      return [
        durations.box('stts'),
        ...(isReordered ? [compositionOffsets.box('ctts')] : []),
        ...(syncs.length < sizes.length ? [fullBox('stss', 0, 0, u32(syncs.length), integers(syncs))] : []),
        fullBox('stsz', 0, 0, u32(0, sizes.length), integers(sizes)),
        sampleToChunk(chunks),
        fullBox('co64', 0, 0, u32(chunkOffsets.length), positions),
      ];
    },
  };
}

/** The samples of a window. */
export function* samplesOf({ track, first, last }: ClipWindow): Generator<Sample> {
  let index = -1;
  for (const sample of track.samples()) {
    index += 1;
    if (index > last) return;
    if (index >= first) yield sample;
  }
}

interface MutableChunk extends SampleChunk {
  bytes: number;
  samples: number;
}

function appendToChunks(chunks: MutableChunk[], sample: Sample, timescale: number): void {
  const { decodeTime, offset, size, description } = sample;
  const startSeconds = decodeTime / timescale;
  const last = chunks.at(-1);
  if (last && offset < last.sourceOffset + last.bytes) throw new UnsupportedMp4('Samples out of order');
  const isAdjacent = last && last.sourceOffset + last.bytes === offset && last.description === description;
  if (isAdjacent && startSeconds - last.startSeconds < CHUNK_SECONDS && last.bytes + size <= MAX_CHUNK_BYTES) {
    last.bytes += size;
    last.samples += 1;
  } else chunks.push({ startSeconds, sourceOffset: offset, bytes: size, samples: 1, description });
}

/** Rows of count and value, as `stts` (ISO/IEC 14496-12 §8.6.1.2) and `ctts` (§8.6.1.3) have them. */
class RunLengths {
  readonly rows: number[] = [];

  add(value: number): void {
    const at = this.rows.length - 2;
    if (at >= 0 && this.rows[at + 1] === value) this.rows[at] = (this.rows[at] ?? 0) + 1;
    else this.rows.push(1, value);
  }

  box(type: 'stts' | 'ctts'): Buffer {
    return fullBox(type, 0, 0, u32(this.rows.length / 2), integers(this.rows));
  }
}
