import { type Box, box, flagsOf, fullBox, type IndexedBox, integers, UnsupportedMp4, u32, u64 } from './boxes.ts';

/** Flags of `tfhd` (ISO/IEC 14496-12 §8.8.7.1). Fields are written in this order, each only where its flag is set. */
export const TFHD = {
  baseDataOffset: 0x1,
  sampleDescription: 0x2,
  sampleDuration: 0x8,
  sampleSize: 0x10,
  sampleFlags: 0x20,
  baseIsMoof: 0x2_0000,
} as const;

/** Flags of `trun` (§8.8.8.1). The last four are fields of each sample, in this order. */
export const TRUN = {
  dataOffset: 0x1,
  firstSampleFlags: 0x4,
  sampleDuration: 0x100,
  sampleSize: 0x200,
  sampleFlags: 0x400,
  compositionOffset: 0x800,
} as const;

const SAMPLE_FIELDS = [TRUN.sampleDuration, TRUN.sampleSize, TRUN.sampleFlags, TRUN.compositionOffset];

/** The fixed fields of a `trun` and where its samples are. */
export interface RunHeader {
  readonly flags: number;
  /** Samples, as written: not checked against the box. */
  readonly count: number;
  /** Where the samples begin, in bytes from the base of the track fragment. Undefined: after those of the run before. */
  readonly dataOffset: number | undefined;
  /** Where the first sample's fields begin, and bytes of each sample's. */
  readonly samplesAt: number;
  readonly sampleBytes: number;
}

/** @throws RangeError when the box has less than 8 bytes of content */
export function parseRunHeader(bytes: Buffer, run: Box): RunHeader {
  const flags = flagsOf(bytes, run);
  const fieldsAt = run.content + 8 + (flags & TRUN.dataOffset ? 4 : 0);
  return {
    flags,
    count: bytes.readUInt32BE(run.content + 4),
    dataOffset: flags & TRUN.dataOffset ? bytes.readInt32BE(run.content + 8) : undefined,
    samplesAt: fieldsAt + (flags & TRUN.firstSampleFlags ? 4 : 0),
    sampleBytes: SAMPLE_FIELDS.filter((field) => flags & field).length * 4,
  };
}

/** `base_media_decode_time` of a `tfdt` (§8.8.12), in units of the media; undefined when the box is too short. */
export function readDecodeTime(bytes: Buffer, { content, end }: Box): bigint | undefined {
  const at = content + 4;
  if (bytes[content] === 1) return at + 8 <= end ? bytes.readBigUInt64BE(at) : undefined;
  return at + 4 <= end ? BigInt(bytes.readUInt32BE(at)) : undefined;
}

/**
 * The defaults of a track's fragments from its `trex` (§8.8.3): 16 bytes with sample description index, duration, size
 * and flags. Undefined without a complete `trex` of this track.
 * @param movie `moov`
 */
export function findFragmentDefaults(movie: IndexedBox, trackId: number): Buffer | undefined {
  const { bytes } = movie;
  const mvex = movie.find('mvex');
  if (!mvex) return undefined;
  for (const { type, content, end } of mvex.children) {
    if (type !== 'trex' || end > mvex.end || end - content < 24) continue;
    if (bytes.readUInt32BE(content + 4) === trackId) return bytes.subarray(content + 8, content + 24);
  }
  return undefined;
}

/** What a `tfhd` (§8.8.7) says of the samples of its track fragment, with the `trex` for the rest. */
export interface TrackFragmentDefaults {
  /** Where data offsets count from in the file; undefined: from the `moof`. */
  readonly baseDataOffset: number | undefined;
  /** Sample description index, from 1. */
  readonly description: number;
  /** Units of the media. */
  readonly duration: number;
  /** Bytes. */
  readonly size: number;
  /** Sample flags. */
  readonly flags: number;
}

/**
 * @param trex 16 bytes, as `findFragmentDefaults` returns them
 * @throws UnsupportedMp4 when the box is shorter than its flags demand
 */
export function parseTrackFragmentDefaults(bytes: Buffer, tfhd: Box, trex: Buffer): TrackFragmentDefaults {
  const flags = flagsOf(bytes, tfhd);
  const content = bytes.subarray(tfhd.content, tfhd.end);
  let at = 8 + (flags & TFHD.baseDataOffset ? 8 : 0);
  if (at > content.length) throw new UnsupportedMp4('Truncated fragment');
  const field = (flag: number, fallback: number) => {
    if (!(flags & flag)) return trex.readUInt32BE(fallback);
    at += 4;
    if (at > content.length) throw new UnsupportedMp4('Truncated fragment');
    return content.readUInt32BE(at - 4);
  };
  return {
    baseDataOffset: flags & TFHD.baseDataOffset ? Number(content.readBigUInt64BE(8)) : undefined,
    description: field(TFHD.sampleDescription, 0),
    duration: field(TFHD.sampleDuration, 4),
    size: field(TFHD.sampleSize, 8),
    flags: field(TFHD.sampleFlags, 12),
  };
}

/** Sample flags (ISO/IEC 14496-12 §8.8.3.1): `sample_depends_on` 2, a sync sample. */
export const SYNC_SAMPLE_FLAGS = 0x0200_0000;
/** `sample_depends_on` 1 and `sample_is_non_sync_sample`. */
export const NON_SYNC_SAMPLE_FLAGS = 0x0101_0000;

/** A `moof` with one track. */
interface FragmentDescription {
  readonly trackId: number;
  /** Units of the media. */
  readonly startTime: number;
  /** Counts from 1. */
  readonly sampleDescription: number;
  readonly runs: readonly SampleRun[];
  readonly hasFlags: boolean;
  readonly hasCompositionOffsets: boolean;
}

/** Samples that follow each other in their file. */
export interface SampleRun {
  /** Where the first one is in the file. */
  readonly first: number;
  /** Bytes that all samples take together. */
  readonly bytes: number;
  /** For each sample: duration, size, flags if `hasFlags`, composition offset if `hasCompositionOffsets`. */
  readonly fields: readonly number[];
}

/**
 * A `moof` of samples that stay where they are in their file: its offsets count from the beginning of the file. Without flags of their own,
 * all are sync samples.
 */
export function writeFileFragment(fragment: FragmentDescription): Buffer {
  const { trackId, startTime, sampleDescription, runs, hasFlags, hasCompositionOffsets } = fragment;
  const base = runs[0]?.first ?? 0;
  const tfhdFlags = TFHD.baseDataOffset | TFHD.sampleDescription | TFHD.sampleFlags;
  const defaults = u32(sampleDescription, SYNC_SAMPLE_FLAGS);
  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(trackId), u64(base), defaults);
  const optionalFlags = (hasFlags ? TRUN.sampleFlags : 0) | (hasCompositionOffsets ? TRUN.compositionOffset : 0);
  const flags = TRUN.dataOffset | TRUN.sampleDuration | TRUN.sampleSize | optionalFlags;
  const fieldsOfSample = 2 + Number(hasFlags) + Number(hasCompositionOffsets);
  const truns = runs.map(({ first, fields }) =>
    fullBox('trun', 1, flags, u32(fields.length / fieldsOfSample, first - base), integers(fields)),
  );
  const traf = box('traf', tfhd, fullBox('tfdt', 1, 0, u64(startTime)), ...truns);
  return box('moof', fullBox('mfhd', 0, 0, u32(0)), traf);
}
