import { BOX_HEADER_BYTES, box, fullBox, integers, u32, u64 } from './boxes.ts';
import { TFHD, TRUN } from './fragment-fields.ts';

/** Bytes of a file. */
export interface ByteSpan {
  readonly first: number;
  readonly bytes: number;
}

/** Bytes of an `mdat` before its samples. */
export const MDAT_HEADER_BYTES = BOX_HEADER_BYTES;

/** Sample flags (ISO/IEC 14496-12 §8.8.3.1): `sample_depends_on` 2, a sync sample. */
export const SYNC_SAMPLE_FLAGS = 0x0200_0000;
/** `sample_depends_on` 1 and `sample_is_non_sync_sample`. */
export const NON_SYNC_SAMPLE_FLAGS = 0x0101_0000;

/** A `moof` with one track and one run. */
export interface FragmentDescription {
  readonly trackId: number;
  /** Units of the media. */
  readonly startTime: number;
  /** Counts from 1. */
  readonly sampleDescription: number;
  /** For each sample: duration, size, flags if `hasFlags`, composition offset if `hasCompositionOffsets`. */
  readonly samples: readonly number[];
  readonly hasFlags: boolean;
  readonly hasCompositionOffsets: boolean;
}

/** The `moof` to be followed by an `mdat` with the samples. Without flags of their own, all are sync samples. */
export function writeFragment(fragment: FragmentDescription, sequence: number): Buffer {
  const { trackId, startTime, sampleDescription, samples, hasFlags, hasCompositionOffsets } = fragment;
  const count = samples.length / (2 + Number(hasFlags) + Number(hasCompositionOffsets));
  const tfhdFlags = TFHD.baseIsMoof | TFHD.sampleDescription | TFHD.sampleFlags;
  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(trackId, sampleDescription, SYNC_SAMPLE_FLAGS));
  const tfdt = fullBox('tfdt', 1, 0, u64(startTime));
  const optionalFlags = (hasFlags ? TRUN.sampleFlags : 0) | (hasCompositionOffsets ? TRUN.compositionOffset : 0);
  const trunFlags = TRUN.dataOffset | TRUN.sampleDuration | TRUN.sampleSize | optionalFlags;
  const trun = fullBox('trun', 1, trunFlags, u32(count, 0), integers(samples));
  const moof = box('moof', fullBox('mfhd', 0, 0, u32(sequence)), box('traf', tfhd, tfdt, trun));
  // `data_offset`, after the header, flags and count of the `trun` that ends the `moof`.
  moof.writeInt32BE(moof.length + MDAT_HEADER_BYTES, moof.length - trun.length + 16);
  return moof;
}
