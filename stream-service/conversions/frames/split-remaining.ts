/** Fewer frames (24 s) are not worth the start and warm-up of another encoder. */
const MIN_FRAMES = 1000;

export interface RemainingFrames {
  /** Frames left of each range in progress, in the order in which encoders take them. */
  readonly begun: readonly number[];
  /** Frames of the segment that have not been started. */
  readonly segment: number;
  /** Frames of the whole conversion that have not been started, that segment included. */
  readonly left: number;
  readonly encoders: number;
}

/**
 * How many frames of the segment the next encoder should take. All of them, except near the end: there the last segment
 * would keep one encoder busy while the others idle, so the rest is split for all encoders to finish together.
 */
export function splitRemaining({ begun, segment, left, encoders }: RemainingFrames): number {
  const busy = new Array<number>(encoders).fill(0);
  for (const frames of begun) {
    const first = Math.min(...busy);
    busy[busy.indexOf(first)] = first + frames;
  }
  const end = busy.reduce((sum, frames) => sum + frames, left) / encoders;
  const share = Math.max(Math.ceil(end - Math.min(...busy)), MIN_FRAMES);
  return segment - share < MIN_FRAMES ? segment : share;
}
