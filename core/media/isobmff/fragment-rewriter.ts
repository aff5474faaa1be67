import { type IndexedBox, indexContent } from './box-index.ts';
import { type Box, box, flagsOf, fullBox, UnsupportedMp4, u32, u64 } from './boxes.ts';
import { parseRunHeader, readDecodeTime, TFHD, TRUN } from './fragment-fields.ts';
import { type ByteSpan, MDAT_HEADER_BYTES } from './fragment-writer.ts';

const MAX_SAMPLES = 1_000_000;
const ENCRYPTION_BOXES = new Set(['senc', 'saiz', 'saio']);

export interface FragmentInput {
  /** The content of a `moof`. */
  readonly moof: Buffer;
  /** Offset of the box in its file. */
  readonly start: number;
  /** Track id in the source, and in the output. */
  readonly sourceId: number;
  readonly id: number;
  /** 16 bytes of `trex`: sample description index, duration, size, flags. */
  readonly defaults: Buffer;
  /** Decode time to use without a `tfdt`, in units of the media. */
  readonly fallbackTime: bigint;
}

/** The samples of one track in a `moof`. Times in units of the media. */
export interface ExtractedFragment {
  readonly startTime: bigint;
  readonly endTime: bigint;
  /** Bytes of all samples. */
  readonly bytes: number;
  /** Where the samples are in their file, in decode order. */
  readonly ranges: readonly ByteSpan[];
  /** `tfhd` for the output; undefined: the `moof` has no fragment of the track. */
  readonly header: Buffer | undefined;
  readonly runs: readonly OutputRun[];
}

/** With a `moof` of its own. */
export interface RewrittenFragment extends Omit<ExtractedFragment, 'header' | 'runs'> {
  /** To be followed by an `mdat` of these samples. Its sequence number is 0: see `SEQUENCE_NUMBER_AT`. */
  readonly moof: Buffer;
}

/** Offset of `sequence_number` in a `moof`: after the headers of `moof` and `mfhd`. */
export const SEQUENCE_NUMBER_AT = 20;

interface OutputRun {
  /** A `trun` whose data offset is still 0. */
  readonly trun: Buffer;
  /** Bytes of the fragment's samples before this run's. */
  readonly precedingBytes: number;
}

/**
 * Extracts one track's samples from a `moof` for a new `moof` elsewhere (ISO/IEC 14496-12 §8.8). Samples keep their
 * times, sizes and flags.
 * @throws UnsupportedMp4
 */
export function rewriteFragment(input: FragmentInput): RewrittenFragment {
  const { header, runs, ...fragment } = extractFragment(input);
  return { ...fragment, moof: writeMoof({ header, runs, ...fragment }) };
}

/** As `rewriteFragment`, without writing the `moof`. @throws UnsupportedMp4 */
export function extractFragment({
  moof,
  start,
  sourceId,
  id,
  defaults,
  fallbackTime,
}: FragmentInput): ExtractedFragment {
  const runs: OutputRun[] = [];
  const ranges: ByteSpan[] = [];
  let header: Buffer | undefined;
  let startTime = fallbackTime;
  let endTime = fallbackTime;
  let bytes = 0;

  for (const traf of indexContent(moof, 'moof').children) {
    if (traf.type !== 'traf') continue;
    if (traf.end > moof.length) throw truncated();
    const tfhd = traf.require('tfhd', 8);
    if (moof.readUInt32BE(tfhd.content + 4) !== sourceId) continue;
    if (header) throw new UnsupportedMp4('Two track fragments of one track in a moof');
    const track = parseTrackFragmentHeader(moof, tfhd, { start, id, defaults });
    header = track.tfhd;
    startTime = decodeTime(traf) ?? fallbackTime;
    endTime = startTime;
    let position = track.base;
    for (const child of traf.children) {
      if (ENCRYPTION_BOXES.has(child.type)) throw new UnsupportedMp4('Encrypted samples');
      if (child.type !== 'trun') continue;
      if (child.end > traf.end) throw truncated();
      const run = parseRun(moof, child, track);
      if (run.dataOffset !== undefined) position = track.base + run.dataOffset;
      const last = ranges.at(-1);
      if (last && position < last.first + last.bytes) throw new UnsupportedMp4('Samples out of order');
      runs.push({ trun: run.trun, precedingBytes: bytes });
      if (run.bytes > 0) ranges.push({ first: position, bytes: run.bytes });
      position += run.bytes;
      bytes += run.bytes;
      endTime += BigInt(run.duration);
    }
  }

  return { startTime, endTime, bytes, ranges, header, runs };
}

function writeMoof({ header = Buffer.alloc(0), startTime, runs }: ExtractedFragment): Buffer {
  const tfdt = fullBox('tfdt', 1, 0, u64(startTime));
  const traf = box('traf', header, tfdt, ...runs.map(({ trun }) => trun));
  const moof = box('moof', fullBox('mfhd', 0, 0, u32(0)), traf);
  // Data offsets count from the start of the `moof`, whose length is known only now.
  let at = moof.length - runs.reduce((sum, { trun }) => sum + trun.length, 0);
  for (const { trun, precedingBytes } of runs) {
    moof.writeInt32BE(moof.length + MDAT_HEADER_BYTES + precedingBytes, at + 16);
    at += trun.length;
  }
  return moof;
}

interface TrackFragmentHeader {
  /** For the output: with its own track id, and offsets that count from the `moof`. */
  readonly tfhd: Buffer;
  /** What data offsets count from in the source's file. */
  readonly base: number;
  /** Defaults of the samples. */
  readonly duration: number;
  readonly size: number;
}

function parseTrackFragmentHeader(
  moof: Buffer,
  tfhd: Box,
  { start, id, defaults }: Pick<FragmentInput, 'start' | 'id' | 'defaults'>,
): TrackFragmentHeader {
  const flags = flagsOf(moof, tfhd);
  const baseBytes = flags & TFHD.baseDataOffset ? 8 : 0;
  const fields: readonly number[] = [TFHD.sampleDescription, TFHD.sampleDuration, TFHD.sampleSize, TFHD.sampleFlags];
  const written = fields.filter((flag) => flags & flag);
  const at = tfhd.content + 8 + baseBytes;
  if (at + written.length * 4 > tfhd.end) throw truncated();
  const field = (flag: number, fallback: number) =>
    flags & flag ? moof.readUInt32BE(at + written.indexOf(flag) * 4) : defaults.readUInt32BE(fallback);
  const outputFlags = (flags & ~TFHD.baseDataOffset) | TFHD.baseIsMoof;
  return {
    tfhd: fullBox('tfhd', 0, outputFlags, u32(id), moof.subarray(at, at + written.length * 4)),
    base: baseBytes ? Number(moof.readBigUInt64BE(tfhd.content + 8)) : start,
    duration: field(TFHD.sampleDuration, 4),
    size: field(TFHD.sampleSize, 8),
  };
}

function decodeTime(traf: IndexedBox): bigint | undefined {
  const tfdt = traf.children.find(({ type }) => type === 'tfdt');
  if (!tfdt) return undefined;
  const time = tfdt.end > traf.end ? undefined : readDecodeTime(traf.bytes, tfdt);
  if (time === undefined) throw truncated();
  return time;
}

function parseRun(moof: Buffer, run: Box, defaults: Pick<TrackFragmentHeader, 'duration' | 'size'>) {
  if (run.end - run.content < 8) throw truncated();
  const { version, flags, count, fieldsAt, samplesAt, sampleBytes } = parseRunHeader(moof, run);
  if (count > MAX_SAMPLES || samplesAt + count * sampleBytes > run.end) throw truncated();

  const sizesAt = samplesAt + (flags & TRUN.sampleDuration ? 4 : 0);
  let bytes = flags & TRUN.sampleSize ? 0 : count * defaults.size;
  let duration = flags & TRUN.sampleDuration ? 0 : count * defaults.duration;
  // Samples without fields of their own take no bytes: there may be any number of them.
  for (let index = 0; sampleBytes > 0 && index < count; index += 1) {
    if (flags & TRUN.sampleSize) bytes += moof.readUInt32BE(sizesAt + index * sampleBytes);
    if (flags & TRUN.sampleDuration) duration += moof.readUInt32BE(samplesAt + index * sampleBytes);
  }
  const fields = moof.subarray(fieldsAt, samplesAt + count * sampleBytes);
  return {
    trun: fullBox('trun', version, flags | TRUN.dataOffset, u32(count, 0), fields),
    /** Undefined: the run continues after the one before. */
    dataOffset: flags & TRUN.dataOffset ? moof.readInt32BE(run.content + 8) : undefined,
    bytes,
    duration,
  };
}

const truncated = () => new UnsupportedMp4('Truncated fragment');
