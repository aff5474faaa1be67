import { UnsupportedMp4 } from './boxes.ts';
import { ChunkReader, type Rows, RunLengthReader, requireDuration, type SampleTables } from './sample-rows.ts';

export const MAX_SAMPLE_BYTES = 256 * 1024 * 1024;

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
