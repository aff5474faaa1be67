import { UnsupportedMp4 } from './boxes.ts';

/** Above it, times do not fit their fields in players. */
const MAX_TIMESCALE = 0x7fff_ffff;

/** The least time scale in which all times of some tracks are whole. @throws UnsupportedMp4 where it is too large */
export function commonTimescale(timescales: readonly number[]): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const common = timescales.reduce((a, b) => (a / divisor(a, b)) * b, 1);
  if (!(common <= MAX_TIMESCALE)) throw new UnsupportedMp4('No common time scale');
  return common;
}
