import { type Box, findChild } from './box-parser.ts';
import { requireChild, UnsupportedMp4 } from './unsupported-mp4.ts';

/** All samples are checked before the first byte is sent: more would block the event loop for too long. */
const MAX_SAMPLES = 2_000_000;
const MAX_SAMPLE_BYTES = 256 * 1024 * 1024;
/** Longer ones come from negative deltas of muxers. */
const MAX_DURATION = 0x7fff_ffff;

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
}

/** Rows of one table, the first one at offset `at`. */
interface Rows {
  readonly count: number;
  readonly at: number;
  readonly version: number;
}

/**
 * Parses the sample tables of a track (ISO/IEC 14496-12 §8.5–8.7) and checks that each fits its box.
 * @param stbl its content
 * @throws UnsupportedMp4
 */
export function parseSampleTable(stbl: Buffer): SampleTable {
  const root: Box = { type: 'stbl', start: 0, content: 0, end: stbl.length };
  const rows = (box: Box, bytes: number): Rows => {
    const count = stbl.readUInt32BE(box.content + 4);
    if (box.content + 8 + count * bytes > box.end) throw new UnsupportedMp4('Truncated sample table');
    return { count, at: box.content + 8, version: stbl.readUInt8(box.content) };
  };
  const optional = (type: string, bytes: number) =>
    findChild(stbl, root, type) && rows(requireChild(stbl, root, type, 8), bytes);
  const stsz = requireChild(stbl, root, 'stsz', 12);
  const sampleBytes = stbl.readUInt32BE(stsz.content + 4);
  const count = stbl.readUInt32BE(stsz.content + 8);
  if (count > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
  if (sampleBytes === 0 && stsz.content + 12 + count * 4 > stsz.end) throw new UnsupportedMp4('Truncated sample table');
  for (const type of ['senc', 'saio', 'saiz']) {
    if (findChild(stbl, root, type)) throw new UnsupportedMp4('Encrypted samples');
  }
  const tables: Tables = {
    bytes: stbl,
    count,
    sampleBytes,
    sizesAt: stsz.content + 12,
    durations: rows(requireChild(stbl, root, 'stts', 8), 8),
    compositionOffsets: optional('ctts', 8),
    chunkRuns: rows(requireChild(stbl, root, 'stsc', 8), 12),
    chunks: optional('stco', 4),
    largeChunks: optional('co64', 8),
    sync: optional('stss', 4),
  };
  return {
    count,
    hasSyncTable: tables.sync !== undefined,
    hasCompositionOffsets: tables.compositionOffsets !== undefined,
    cursor: () => new SampleCursor(tables),
  };
}

interface Tables {
  readonly bytes: Buffer;
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

/** Iterates samples in decode order. The fields are those of the current sample; reused, not allocated per sample. */
export class SampleCursor {
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

  readonly #tables: Tables;
  readonly #durations: RunLengthReader;
  readonly #compositionOffsets: RunLengthReader | undefined;
  #sample = -1;
  #syncRow = 0;
  #chunk = 0;
  #chunkRow = -1;
  #chunkRowEnd = 0;
  #samplesInChunk = 0;
  #remainingInChunk = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#durations = new RunLengthReader(tables.bytes, tables.durations);
    this.#compositionOffsets =
      tables.compositionOffsets && new RunLengthReader(tables.bytes, tables.compositionOffsets);
  }

  /** Advances to the next sample; false after the last one. @throws UnsupportedMp4 when the tables are inconsistent */
  next(): boolean {
    const { bytes, count, sampleBytes, sizesAt, sync } = this.#tables;
    this.#sample += 1;
    if (this.#sample >= count) return false;
    this.decodeTime += this.duration;
    this.duration = this.#durations.next();
    if (this.duration > MAX_DURATION || !Number.isSafeInteger(this.decodeTime))
      throw new UnsupportedMp4('Sample duration out of range');
    if (this.#compositionOffsets) this.compositionOffset = this.#compositionOffsets.next() | 0;

    const end = this.offset + this.size;
    this.size = sampleBytes || bytes.readUInt32BE(sizesAt + this.#sample * 4);
    if (this.size > MAX_SAMPLE_BYTES) throw new UnsupportedMp4('Sample size out of range');
    if (this.#remainingInChunk === 0) this.#nextChunk();
    else this.offset = end;
    this.#remainingInChunk -= 1;
    if (sync) this.#updateSync(sync);
    return true;
  }

  #updateSync({ at, count }: Rows): void {
    const number = this.#syncRow < count ? this.#tables.bytes.readUInt32BE(at + this.#syncRow * 4) : 0;
    this.isSync = number === this.#sample + 1;
    if (this.isSync) this.#syncRow += 1;
    else if (number !== 0 && number <= this.#sample) throw new UnsupportedMp4('Sync samples out of order');
  }

  #nextChunk(): void {
    const { bytes, chunks, largeChunks, chunkRuns } = this.#tables;
    const table = chunks ?? largeChunks;
    if (!table || this.#chunk >= table.count) throw new UnsupportedMp4('More samples than chunks');
    this.offset = chunks
      ? bytes.readUInt32BE(table.at + this.#chunk * 4)
      : Number(bytes.readBigUInt64BE(table.at + this.#chunk * 8));
    this.#chunk += 1;
    if (this.#chunk > this.#chunkRowEnd) {
      this.#chunkRow += 1;
      const row = chunkRuns.at + this.#chunkRow * 12;
      if (this.#chunkRow >= chunkRuns.count || bytes.readUInt32BE(row) !== this.#chunk) {
        throw new UnsupportedMp4('Inconsistent stsc');
      }
      this.#chunkRowEnd =
        this.#chunkRow + 1 < chunkRuns.count ? bytes.readUInt32BE(row + 12) - 1 : Number.POSITIVE_INFINITY;
      this.#samplesInChunk = bytes.readUInt32BE(row + 4);
      this.description = bytes.readUInt32BE(row + 8);
      if (this.description === 0 || this.#samplesInChunk === 0 || this.#chunkRowEnd < this.#chunk)
        throw new UnsupportedMp4('Inconsistent stsc');
    }
    this.#remainingInChunk = this.#samplesInChunk;
  }
}

/** Rows of count and value, as in `stts` (§8.6.1.2) and `ctts` (§8.6.1.3). */
class RunLengthReader {
  readonly #bytes: Buffer;
  readonly #rows: Rows;
  #row = -1;
  #remaining = 0;
  #value = 0;

  constructor(bytes: Buffer, rows: Rows) {
    this.#bytes = bytes;
    this.#rows = rows;
  }

  next(): number {
    while (this.#remaining === 0) {
      this.#row += 1;
      if (this.#row >= this.#rows.count) throw new UnsupportedMp4('Truncated sample table');
      const at = this.#rows.at + this.#row * 8;
      this.#remaining = this.#bytes.readUInt32BE(at);
      this.#value = this.#bytes.readUInt32BE(at + 4);
    }
    this.#remaining -= 1;
    return this.#value;
  }
}
