import { UnsupportedMp4 } from './boxes.ts';
import { LENGTH_BYTES, type RunSample, type TrackRun } from './subsegment.ts';

/** The samples of a segment, which stay in the memory that they were read into. It is cloned fast. */
export interface FragmentSamples {
  readonly runs: readonly PackedRun[];
  /** What `PackedRun.memory` counts. The first one is that of the segment. */
  readonly memory: readonly Buffer[];
}

/** Samples by column, and where their bytes are. */
export interface PackedRun extends Omit<TrackRun, 'samples' | 'data'> {
  /** `FIELDS` numbers for each sample. */
  readonly samples: Float64Array;
  /** Index of the memory where all of its bytes are. */
  readonly memory: number;
  /** Where each piece of its bytes begins and ends there. */
  readonly pieces: Uint32Array;
}

/** Duration, size, composition offset, and 1 for a sync sample. */
const FIELDS = 4;

/**
 * @param segment the memory of the samples: those that lie elsewhere are copied, because that may be used again
 * @throws UnsupportedMp4 when the data has another size than its samples
 */
export function packRuns(runs: readonly TrackRun[], segment: Buffer): FragmentSamples {
  const memory = [segment];
  const packed = runs.map(({ samples, data, ...run }): PackedRun => {
    const isHere = data.every((piece) => isWithin(segment, piece));
    const own = isHere ? segment : Buffer.concat(data);
    const pieces = new Uint32Array(2 * data.length);
    let copied = 0;
    for (const [index, { byteOffset, length }] of data.entries()) {
      const start = isHere ? byteOffset - segment.byteOffset : copied;
      copied += length;
      pieces.set([start, start + length], 2 * index);
    }
    const lengthBytes = run.lacksLengths ? LENGTH_BYTES * data.length : 0;
    if (copied + lengthBytes !== samples.reduce((sum, { size }) => sum + size, 0))
      throw new UnsupportedMp4('Samples of another size');
    return { ...run, samples: packSamples(samples), memory: isHere ? 0 : memory.push(own) - 1, pieces };
  });
  return { runs: packed, memory };
}

const isWithin = (whole: Buffer, { buffer, byteOffset, length }: Buffer): boolean =>
  buffer === whole.buffer && byteOffset >= whole.byteOffset && byteOffset + length <= whole.byteOffset + whole.length;

export function packSamples(samples: readonly RunSample[]): Float64Array {
  const packed = new Float64Array(samples.length * FIELDS);
  let at = 0;
  for (const { duration, size, compositionOffset, isSync } of samples) {
    packed[at] = duration;
    packed[at + 1] = size;
    packed[at + 2] = compositionOffset;
    packed[at + 3] = Number(isSync);
    at += FIELDS;
  }
  return packed;
}

export const unpackSamples = ({ samples }: Pick<PackedRun, 'samples'>): readonly RunSample[] =>
  Array.from({ length: samples.length / FIELDS }, (_, index) => {
    const [duration = 0, size = 0, compositionOffset = 0, isSync] = samples.subarray(index * FIELDS);
    return { duration, size, compositionOffset, isSync: isSync === 1 };
  });

/** Bytes that the samples of a segment take in memory. */
export const weighSamples = ({ memory, runs }: FragmentSamples): number =>
  memory.reduce((sum, { buffer }) => sum + buffer.byteLength, 0) +
  runs.reduce((sum, { samples, pieces }) => sum + samples.byteLength + pieces.byteLength, 0);

/** The bytes of a run in order, as they lie in memory, with the lengths of its units. @param end before it, the last one */
export function* runParts(
  { memory }: Pick<FragmentSamples, 'memory'>,
  { memory: index, pieces, lacksLengths }: PackedRun,
  first = 0,
  end = Number.POSITIVE_INFINITY,
): Generator<Buffer> {
  const own = memory[index] ?? Buffer.alloc(0);
  let at = 0;
  for (let piece = 0; piece < pieces.length && at < end; piece += 2) {
    const [from = 0, to = 0] = pieces.subarray(piece, piece + 2);
    if (lacksLengths) {
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32BE(to - from);
      if (at + LENGTH_BYTES > first) yield length.subarray(Math.max(0, first - at), end - at);
      at += LENGTH_BYTES;
    }
    if (at < end && at + to - from > first)
      yield own.subarray(from + Math.max(0, first - at), Math.min(to, from + end - at));
    at += to - from;
  }
}

/** The memory of a segment that is no longer read, until the garbage collector frees it. */
let spare: WeakRef<ArrayBuffer> | undefined;
/** Smaller ones may share their memory. */
const MIN_SPARE_BYTES = 64 * 1024;
/** A buffer larger than this many times what it has is not recycled: permits count what it has. */
const MAX_SPARE_FACTOR = 1.25;

/** Reads the next segment into the memory of this one, which is empty then: to map new memory takes longer than to copy into it. */
export function recycle({ memory: [segment] }: FragmentSamples): void {
  if (!segment || segment.length < MIN_SPARE_BYTES || !(segment.buffer instanceof ArrayBuffer)) return;
  // Frees what is replaced at once.
  spare?.deref()?.transfer(0);
  spare = new WeakRef(segment.buffer.transfer());
}

/** Memory for a segment, of any content. */
export function allocateSegment(bytes: number): Buffer {
  const memory = spare?.deref();
  if (!memory || memory.byteLength < bytes || memory.byteLength > MAX_SPARE_FACTOR * bytes)
    return Buffer.allocUnsafeSlow(bytes);
  spare = undefined;
  return Buffer.from(memory, 0, bytes);
}
