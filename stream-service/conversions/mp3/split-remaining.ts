/** Frames for which an encoder of their own is worth its start and its warm-up: 24 s. */
const LEAST_FRAMES = 1000;

export interface Work {
  /** Frames still to be encoded of what was begun, in the order in which encoders take it up. */
  readonly begun: readonly number[];
  /** Frames of the rest of the segment that nobody has begun. */
  readonly segment: number;
  /** Frames of everything that nobody has begun, that segment included. */
  readonly left: number;
  readonly encoders: number;
}

/**
 * How many frames of the segment the next encoder should take. All of them, but at the end: the last segments would keep
 * one encoder busy while the others have nothing left to do, so there each takes as much as lets all end together.
 */
export function splitRemaining({ begun, segment, left, encoders }: Work): number {
  const busy = new Array<number>(encoders).fill(0);
  for (const frames of begun) {
    const first = Math.min(...busy);
    busy[busy.indexOf(first)] = first + frames;
  }
  const end = busy.reduce((sum, frames) => sum + frames, left) / encoders;
  const share = Math.max(Math.ceil(end - Math.min(...busy)), LEAST_FRAMES);
  return segment - share < LEAST_FRAMES ? segment : share;
}
