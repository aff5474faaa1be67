import { type Box, type IndexedBox, indexContent, UnsupportedMp4 } from './boxes.ts';
import {
  ChunkReader,
  type CutSamples,
  cutSpans,
  MAX_SAMPLE_BYTES,
  type Rows,
  RunLengthReader,
  requireDuration,
  type SampleTables,
  type SpanLimits,
} from './sample-rows.ts';

/** Thirteen hours at 60 frames a second. All samples are checked before the first byte is sent, in about 5 ns each. */
const MAX_SAMPLES = 3_000_000;

/** A sample of a track. */
export interface Sample {
  /** Times in units of the media. */
  readonly decodeTime: number;
  readonly duration: number;
  readonly compositionOffset: number;
  /** Bytes, from the start of the file. */
  readonly offset: number;
  readonly size: number;
  readonly isSync: boolean;
  /** Sample description index, from 1. */
  readonly description: number;
}

/** The samples of a track; can be iterated any number of times. */
export interface SampleTable {
  /** Samples. */
  readonly count: number;
  /** `stss`; without it every sample is a sync sample. */
  readonly hasSyncTable: boolean;
  /** `ctts`. */
  readonly hasCompositionOffsets: boolean;
  /** A cursor before the first sample. */
  cursor(): SampleCursor;
  /**
   * Cuts the samples into spans, several times faster than a cursor could.
   * @throws UnsupportedMp4 when the tables are inconsistent or samples are not in decode order; Error when a sample lies
   *   beyond the end of the file
   */
  cut(limits: SpanLimits): CutSamples;
}

/**
 * Parses the sample tables of a track (ISO/IEC 14496-12 §8.5–8.7) and checks that each fits its box.
 * @param stbl its content
 * @throws UnsupportedMp4
 */
export function parseSampleTable(stbl: Buffer): SampleTable {
  const root = indexContent(stbl, 'stbl');
  const rows = (box: Box, bytes: number): Rows => {
    const count = stbl.readUInt32BE(box.content + 4);
    if (box.content + 8 + count * bytes > box.end) throw new UnsupportedMp4('Truncated sample table');
    return { count, at: box.content + 8 };
  };
  const optional = (type: string, bytes: number) => root.find(type) && rows(root.require(type, 8), bytes);
  const stsz = root.require('stsz', 12);
  const sampleBytes = stbl.readUInt32BE(stsz.content + 4);
  const count = stbl.readUInt32BE(stsz.content + 8);
  if (count > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
  if (sampleBytes === 0 && stsz.content + 12 + count * 4 > stsz.end) throw new UnsupportedMp4('Truncated sample table');
  for (const type of ['senc', 'saio', 'saiz']) {
    if (root.find(type)) throw new UnsupportedMp4('Encrypted samples');
  }
  const tables: SampleTables = {
    bytes: stbl,
    view: new DataView(stbl.buffer, stbl.byteOffset, stbl.length),
    count,
    sampleBytes,
    sizesAt: stsz.content + 12,
    durations: rows(root.require('stts', 8), 8),
    compositionOffsets: optional('ctts', 8),
    chunkRuns: rows(root.require('stsc', 8), 12),
    chunks: optional('stco', 4),
    largeChunks: optional('co64', 8),
    sync: optional('stss', 4),
  };
  return {
    count,
    hasSyncTable: tables.sync !== undefined,
    hasCompositionOffsets: tables.compositionOffsets !== undefined,
    cursor: () => new SampleCursor(tables),
    cut: (limits) => cutSpans(tables, limits),
  };
}

/** How many samples the tables of all tracks of a movie declare. */
export const countDeclaredSamples = ({ bytes, children }: IndexedBox): number =>
  children.reduce((sum, trak) => {
    const stsz = trak.find('mdia', 'minf', 'stbl', 'stsz');
    return stsz && stsz.end - stsz.content >= 12 ? sum + bytes.readUInt32BE(stsz.content + 8) : sum;
  }, 0);

/** Iterates samples in decode order. The fields are those of the current sample; reused, not allocated per sample. */
export class SampleCursor implements Sample {
  /** Times in units of the media. */
  decodeTime = 0;
  duration = 0;
  compositionOffset = 0;
  /** Bytes, from the start of the file. */
  offset = 0;
  size = 0;
  isSync = true;
  /** Sample description index, from 1. */
  description = 0;

  readonly #tables: SampleTables;
  readonly #durations: RunLengthReader;
  readonly #compositionOffsets: RunLengthReader | undefined;
  readonly #chunks: ChunkReader;
  #sample = -1;
  #syncRow = 0;
  #remainingInChunk = 0;

  constructor(tables: SampleTables) {
    this.#tables = tables;
    this.#chunks = new ChunkReader(tables);
    this.#durations = new RunLengthReader(tables.view, tables.durations);
    this.#compositionOffsets = tables.compositionOffsets && new RunLengthReader(tables.view, tables.compositionOffsets);
  }

  /** Advances to the next sample; false after the last one. @throws UnsupportedMp4 when the tables are inconsistent */
  next(): boolean {
    const { view, count, sampleBytes, sizesAt, sync } = this.#tables;
    this.#sample += 1;
    if (this.#sample >= count) return false;
    this.decodeTime += this.duration;
    this.duration = this.#durations.next();
    requireDuration(this.duration, this.decodeTime);
    if (this.#compositionOffsets) this.compositionOffset = this.#compositionOffsets.next() | 0;

    const end = this.offset + this.size;
    this.size = sampleBytes || view.getUint32(sizesAt + this.#sample * 4);
    if (this.size > MAX_SAMPLE_BYTES) throw new UnsupportedMp4('Sample size out of range');
    if (this.#remainingInChunk === 0) this.#nextChunk();
    else this.offset = end;
    this.#remainingInChunk -= 1;
    if (sync) this.#updateSync(sync);
    return true;
  }

  #updateSync({ at, count }: Rows): void {
    const number = this.#syncRow < count ? this.#tables.view.getUint32(at + this.#syncRow * 4) : 0;
    this.isSync = number === this.#sample + 1;
    if (this.isSync) this.#syncRow += 1;
    else if (number !== 0 && number <= this.#sample) throw new UnsupportedMp4('Sync samples out of order');
  }

  #nextChunk(): void {
    const chunk = this.#chunks;
    chunk.next();
    this.offset = chunk.offset;
    this.description = chunk.description;
    this.#remainingInChunk = chunk.samples;
  }
}
