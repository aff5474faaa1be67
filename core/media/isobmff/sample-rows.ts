import { UnsupportedMp4 } from './boxes.ts';

/** Longer ones come from negative deltas of muxers. */
const MAX_DURATION = 0x7fff_ffff;

/** Rows of one table, the first one at offset `at`. */
export interface Rows {
  readonly count: number;
  readonly at: number;
}

/** The tables of a track, each checked to fit its box. Offsets from the start of `bytes`. */
export interface SampleTables {
  /** The content of `stbl`. */
  readonly bytes: Buffer;
  /** The same bytes: several times faster for single integers. */
  readonly view: DataView;
  /** Samples. */
  readonly count: number;
  /** Size of every sample; 0: `sizesAt` has a row for each. */
  readonly sampleBytes: number;
  readonly sizesAt: number;
  readonly durations: Rows;
  readonly compositionOffsets: Rows | undefined;
  readonly chunkRuns: Rows;
  readonly chunks: Rows | undefined;
  readonly largeChunks: Rows | undefined;
  readonly sync: Rows | undefined;
}

/** @throws UnsupportedMp4 when a duration or the time before it is out of range */
export function requireDuration(duration: number, decodeTime: number): void {
  if (duration > MAX_DURATION || !Number.isSafeInteger(decodeTime))
    throw new UnsupportedMp4('Sample duration out of range');
}

/** Reads rows of count and value, as in `stts` (§8.6.1.2) and `ctts` (§8.6.1.3). */
export class RunLengthReader {
  /** Of the current row: its value, and the samples left. */
  value = 0;
  remaining = 0;
  readonly #view: DataView;
  readonly #rows: Rows;
  #row = -1;

  constructor(view: DataView, rows: Rows) {
    this.#view = view;
    this.#rows = rows;
  }

  /** Advances to the next row with samples, unless some of the current one are left. @throws UnsupportedMp4 after the last */
  nextRow(): void {
    while (this.remaining === 0) {
      this.#row += 1;
      if (this.#row >= this.#rows.count) throw new UnsupportedMp4('Truncated sample table');
      const at = this.#rows.at + this.#row * 8;
      this.remaining = this.#view.getUint32(at);
      this.value = this.#view.getUint32(at + 4);
    }
  }

  /** The value of the next sample. @throws UnsupportedMp4 after the last row */
  next(): number {
    if (this.remaining === 0) this.nextRow();
    this.remaining -= 1;
    return this.value;
  }
}

/** Reads the chunks of `stco` or `co64` with their rows of `stsc` (§8.7.4, §8.7.5). */
export class ChunkReader {
  /** Of the current chunk: bytes from the start of the file, samples, and sample description index from 1. */
  offset = 0;
  samples = 0;
  description = 0;
  readonly #tables: SampleTables;
  #chunk = 0;
  #row = -1;
  /** Last chunk of the current row. */
  #rowEnd = 0;

  constructor(tables: SampleTables) {
    this.#tables = tables;
  }

  /** @throws UnsupportedMp4 after the last chunk, and when the tables are inconsistent */
  next(): void {
    const { view, chunks, largeChunks } = this.#tables;
    const table = chunks ?? largeChunks;
    if (!table || this.#chunk >= table.count) throw new UnsupportedMp4('More samples than chunks');
    this.offset = chunks
      ? view.getUint32(table.at + this.#chunk * 4)
      : view.getUint32(table.at + this.#chunk * 8) * 2 ** 32 + view.getUint32(table.at + this.#chunk * 8 + 4);
    this.#chunk += 1;
    if (this.#chunk > this.#rowEnd) this.#nextRow();
  }

  #nextRow(): void {
    const { view, chunkRuns } = this.#tables;
    this.#row += 1;
    const row = chunkRuns.at + this.#row * 12;
    if (this.#row >= chunkRuns.count || view.getUint32(row) !== this.#chunk)
      throw new UnsupportedMp4('Inconsistent stsc');
    this.#rowEnd = this.#row + 1 < chunkRuns.count ? view.getUint32(row + 12) - 1 : Number.POSITIVE_INFINITY;
    this.samples = view.getUint32(row + 4);
    this.description = view.getUint32(row + 8);
    if (this.description === 0 || this.samples === 0 || this.#rowEnd < this.#chunk)
      throw new UnsupportedMp4('Inconsistent stsc');
  }
}
