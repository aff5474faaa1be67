import { UnsupportedMp4 } from './boxes.ts';

/** Longer ones come from negative deltas of muxers. */
const MAX_DURATION = 0x7fff_ffff;

export const MAX_SAMPLE_BYTES = 256 * 1024 * 1024;

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
  /** The value of the current row, and the samples left of it. */
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
  /** Where the current chunk begins in the file, its samples, and its sample description index from 1. */
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

/** Consecutive samples of one description, contiguous in the file. */
export interface SampleSpan {
  /** Decode time of the first sample, in units of the media. */
  readonly startTime: number;
  /** Bytes, from the start of the file. */
  readonly offset: number;
  readonly bytes: number;
  readonly samples: number;
  /** Sample description index, from 1. */
  readonly description: number;
}

export interface SpanLimits {
  /** A span ends before the first sample that begins this long after its start, in units of the media. */
  readonly maxUnits: number;
  /** A span ends before the sample that would make it larger. */
  readonly maxBytes: number;
  /** Size of the file. */
  readonly fileBytes: number;
}

export interface CutSamples {
  readonly spans: readonly SampleSpan[];
  /** Units of the media. */
  readonly duration: number;
}

/** See `SampleTable.cut`. Reads rows instead of samples, except for the sizes: they are summed. */
export function cutSpans(tables: SampleTables, { maxUnits, maxBytes, fileBytes }: SpanLimits): CutSamples {
  requireCoveredSamples(tables);
  requireIncreasingSync(tables);
  const { count } = tables;
  const sizes = readSizes(tables);
  const durations = new RunLengthReader(tables.view, tables.durations);
  const chunk = new ChunkReader(tables);
  const spans: SampleSpan[] = [];
  let [sample, decodeTime, end] = [0, 0, 0];
  let [startTime, offset, bytes, samples, description] = [0, 0, 0, 0, 0];
  const close = () => {
    if (samples > 0) spans.push({ startTime, offset, bytes, samples, description });
    startTime = decodeTime;
    offset = end;
    bytes = 0;
    samples = 0;
  };

  while (sample < count) {
    chunk.next();
    if (chunk.offset < end) throw new UnsupportedMp4('Samples out of order');
    const isAdjacent = chunk.offset === end && chunk.description === description;
    end = chunk.offset;
    if (!isAdjacent) close();
    description = chunk.description;
    for (let remaining = Math.min(chunk.samples, count - sample); remaining > 0; ) {
      durations.nextRow();
      requireDuration(durations.value, decodeTime);
      const untilCut = samplesUntil(startTime + maxUnits - decodeTime, durations.value);
      if (untilCut === 0) {
        close();
        continue;
      }
      const last = sample + Math.min(remaining, durations.remaining, untilCut);
      const first = sample;
      for (; sample < last; sample += 1) {
        const size = sizes === undefined ? tables.sampleBytes : (sizes[sample] ?? 0);
        if (size > MAX_SAMPLE_BYTES) throw new UnsupportedMp4('Sample size out of range');
        if (bytes + size > maxBytes && samples + sample > first) break;
        bytes += size;
        end += size;
      }
      const taken = sample - first;
      if (!(end <= fileBytes)) throw new Error('The file ends before what its header describes');
      samples += taken;
      remaining -= taken;
      durations.remaining -= taken;
      decodeTime += taken * durations.value;
      if (sample < last) close();
    }
  }
  requireDuration(0, decodeTime);
  close();
  return { spans, duration: decodeTime };
}

/** How many samples of a duration begin within so many units. */
function samplesUntil(units: number, duration: number): number {
  if (units <= 0) return 0;
  return duration > 0 ? Math.ceil(units / duration) : Number.POSITIVE_INFINITY;
}

const readSizes = ({ bytes, count, sampleBytes, sizesAt }: SampleTables): Uint32Array | undefined =>
  sampleBytes > 0 ? undefined : readIntegers(bytes, { at: sizesAt, count });

/** Big-endian integers in the byte order of this machine. */
function readIntegers(bytes: Buffer, { at, count }: Rows): Uint32Array {
  const copy = Buffer.allocUnsafeSlow(count * 4);
  bytes.copy(copy, 0, at, at + count * 4);
  copy.swap32();
  return new Uint32Array(copy.buffer, copy.byteOffset, count);
}

/** @throws UnsupportedMp4 when `ctts` describes less samples than there are */
function requireCoveredSamples({ bytes, count, compositionOffsets }: SampleTables): void {
  if (!compositionOffsets) return;
  const fields = readIntegers(bytes, { at: compositionOffsets.at, count: compositionOffsets.count * 2 });
  let covered = 0;
  for (let row = 0; row < fields.length; row += 2) covered += fields[row] ?? 0;
  if (covered < count) throw new UnsupportedMp4('Truncated sample table');
}

/** @throws UnsupportedMp4 when the sample numbers of `stss`, from 1, do not increase */
function requireIncreasingSync({ view, sync }: SampleTables): void {
  let last = 0;
  for (let row = 0; row < (sync?.count ?? 0); row += 1) {
    const number = view.getUint32((sync?.at ?? 0) + row * 4);
    if (number <= last) throw new UnsupportedMp4('Sync samples out of order');
    last = number;
  }
}
