import type { IndexedBox } from './box-index.ts';
import { type Box, flagsOf } from './boxes.ts';

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
  readonly version: number;
  readonly flags: number;
  /** Samples, as written: not checked against the box. */
  readonly count: number;
  /** Where the fields after `data_offset`, if any, begin. */
  readonly fieldsAt: number;
  /** Where the first sample's fields begin, and bytes of each sample's. */
  readonly samplesAt: number;
  readonly sampleBytes: number;
}

/** @throws RangeError when the box has less than 8 bytes of content */
export function parseRunHeader(bytes: Buffer, run: Box): RunHeader {
  const flags = flagsOf(bytes, run);
  const fieldsAt = run.content + 8 + (flags & TRUN.dataOffset ? 4 : 0);
  return {
    version: bytes.readUInt8(run.content),
    flags,
    count: bytes.readUInt32BE(run.content + 4),
    fieldsAt,
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
 * @throws RangeError when the box is shorter than its flags demand
 */
export function parseTrackFragmentDefaults(bytes: Buffer, tfhd: Box, trex: Buffer): TrackFragmentDefaults {
  const flags = flagsOf(bytes, tfhd);
  const content = bytes.subarray(tfhd.content, tfhd.end);
  let at = 8 + (flags & TFHD.baseDataOffset ? 8 : 0);
  const field = (flag: number, fallback: number) => {
    if (!(flags & flag)) return trex.readUInt32BE(fallback);
    at += 4;
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
