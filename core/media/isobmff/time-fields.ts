import type { Box } from './box-parser.ts';

/**
 * Offsets from the content of `mvhd` and `mdhd` (ISO/IEC 14496-12 §8.2.2, §8.4.2) by version: 0 has 32-bit times and a
 * 32-bit duration, 1 has 64-bit ones. `end`: of the duration.
 */
export const MEDIA_TIMES = [
  { timescale: 12, duration: 16, end: 20 },
  { timescale: 20, duration: 24, end: 32 },
] as const;

/** The same of `tkhd` (§8.3.2), whose duration is in units of the movie. */
export const TRACK_TIMES = [
  { trackId: 12, duration: 20, end: 24 },
  { trackId: 20, duration: 28, end: 36 },
] as const;

/** 1: 64-bit times. Versions that the standard does not define are read as 0. */
export const timesVersion = (bytes: Buffer, { content }: Box): 0 | 1 => (bytes[content] === 1 ? 1 : 0);

/** A duration in its own units; 0 when it is unknown (all ones) or beyond what a number holds exactly. */
export function readDuration(bytes: Buffer, at: number, version: 0 | 1): number {
  const duration = version === 1 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
  return duration === UNKNOWN_32 && version === 0 ? 0 : Number.isSafeInteger(duration) ? duration : 0;
}

/** All ones: the duration cannot be determined (§8.2.2.3). */
export const UNKNOWN_32 = 0xffff_ffff;
