import { type Box, findChild } from './box-parser.ts';
import { inside } from './track-header.ts';
import { UnsupportedMp4 } from './unsupported-mp4.ts';

/** More are checked by FFmpeg: looking at every sample before the first byte must not hold up other streams. */
const MAX_SAMPLES = 2_000_000;
const MAX_SAMPLE_BYTES = 256 * 1024 * 1024;
const MAX_DELTA = 0x7fff_ffff;

/** What a file says of its samples, to be walked any number of times. */
export interface SampleTable {
  readonly count: number;
  readonly hasSyncTable: boolean;
  readonly hasOffsets: boolean;
  walk(): SampleWalk;
}

/** Rows of one table. `at` is where the first one begins. */
interface Rows {
  readonly count: number;
  readonly at: number;
  readonly version: number;
}

/**
 * The sample tables of a track (ISO/IEC 14496-12 §8.5–8.7), none of which is larger than its box.
 * @param stbl its content
 * @throws Unsupported
 */
export function parseSampleTable(stbl: Buffer): SampleTable {
  const root: Box = { type: 'stbl', start: 0, content: 0, end: stbl.length };
  const rows = (box: Box, bytes: number): Rows => {
    const count = stbl.readUInt32BE(box.content + 4);
    if (box.content + 8 + count * bytes > box.end) throw new UnsupportedMp4('A sample table is cut');
    return { count, at: box.content + 8, version: stbl.readUInt8(box.content) };
  };
  const optional = (type: string, bytes: number) =>
    findChild(stbl, root, type) && rows(inside(stbl, root, type, 8), bytes);
  const stsz = inside(stbl, root, 'stsz', 12);
  const sampleBytes = stbl.readUInt32BE(stsz.content + 4);
  const count = stbl.readUInt32BE(stsz.content + 8);
  if (count > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
  if (sampleBytes === 0 && stsz.content + 12 + count * 4 > stsz.end) throw new UnsupportedMp4('A sample table is cut');
  for (const type of ['senc', 'saio', 'saiz']) {
    if (findChild(stbl, root, type)) throw new UnsupportedMp4('Encrypted samples');
  }
  const tables: Tables = {
    bytes: stbl,
    count,
    sampleBytes,
    sizesAt: stsz.content + 12,
    durations: rows(inside(stbl, root, 'stts', 8), 8),
    offsets: optional('ctts', 8),
    chunkRuns: rows(inside(stbl, root, 'stsc', 8), 12),
    chunks: optional('stco', 4),
    largeChunks: optional('co64', 8),
    sync: optional('stss', 4),
  };
  return {
    count,
    hasSyncTable: tables.sync !== undefined,
    hasOffsets: tables.offsets !== undefined,
    walk: () => new SampleWalk(tables),
  };
}

interface Tables {
  readonly bytes: Buffer;
  readonly count: number;
  /** Of every sample; 0: each has its own. */
  readonly sampleBytes: number;
  readonly sizesAt: number;
  readonly durations: Rows;
  readonly offsets: Rows | undefined;
  readonly chunkRuns: Rows;
  readonly chunks: Rows | undefined;
  readonly largeChunks: Rows | undefined;
  readonly sync: Rows | undefined;
}

/** One sample after the other, in the order of decoding. Its fields are those of the sample it stands at. */
export class SampleWalk {
  /** Units of the media. */
  decodeTime = 0;
  duration = 0;
  compositionOffset = 0;
  /** Bytes. */
  offset = 0;
  size = 0;
  isSync = true;
  /** Counts from 1. */
  description = 0;

  readonly #tables: Tables;
  readonly #duration: RunLength;
  readonly #offset: RunLength | undefined;
  #sample = -1;
  #syncRow = 0;
  #chunk = 0;
  #chunkRow = -1;
  #chunkRowEnd = 0;
  #samplesInChunk = 0;
  #leftInChunk = 0;

  constructor(tables: Tables) {
    this.#tables = tables;
    this.#duration = new RunLength(tables.bytes, tables.durations);
    this.#offset = tables.offsets && new RunLength(tables.bytes, tables.offsets);
  }

  /** Goes to the next sample; false: there is none. @throws Unsupported when the tables contradict each other */
  next(): boolean {
    const { bytes, count, sampleBytes, sizesAt, sync } = this.#tables;
    this.#sample += 1;
    if (this.#sample >= count) return false;
    this.decodeTime += this.duration;
    this.duration = this.#duration.next();
    if (this.duration > MAX_DELTA || !Number.isSafeInteger(this.decodeTime))
      throw new UnsupportedMp4('Time runs backwards');
    if (this.#offset) this.compositionOffset = this.#offset.next() | 0;

    const end = this.offset + this.size;
    this.size = sampleBytes || bytes.readUInt32BE(sizesAt + this.#sample * 4);
    if (this.size > MAX_SAMPLE_BYTES) throw new UnsupportedMp4('A sample without end');
    if (this.#leftInChunk === 0) this.#nextChunk();
    else this.offset = end;
    this.#leftInChunk -= 1;
    if (sync) this.#lookAtSync(sync);
    return true;
  }

  #lookAtSync({ at, count }: Rows): void {
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
        throw new UnsupportedMp4('Chunks out of order');
      }
      this.#chunkRowEnd =
        this.#chunkRow + 1 < chunkRuns.count ? bytes.readUInt32BE(row + 12) - 1 : Number.POSITIVE_INFINITY;
      this.#samplesInChunk = bytes.readUInt32BE(row + 4);
      this.description = bytes.readUInt32BE(row + 8);
      if (this.description === 0 || this.#samplesInChunk === 0 || this.#chunkRowEnd < this.#chunk)
        throw new UnsupportedMp4('Chunks out of order');
    }
    this.#leftInChunk = this.#samplesInChunk;
  }
}

/** Values that are each written once with how often they follow each other. */
class RunLength {
  readonly #bytes: Buffer;
  readonly #rows: Rows;
  #row = -1;
  #left = 0;
  #value = 0;

  constructor(bytes: Buffer, rows: Rows) {
    this.#bytes = bytes;
    this.#rows = rows;
  }

  next(): number {
    while (this.#left === 0) {
      this.#row += 1;
      if (this.#row >= this.#rows.count) throw new UnsupportedMp4('A sample table is too short');
      const at = this.#rows.at + this.#row * 8;
      this.#left = this.#bytes.readUInt32BE(at);
      this.#value = this.#bytes.readUInt32BE(at + 4);
    }
    this.#left -= 1;
    return this.#value;
  }
}
