/** Average speed of the last few seconds. */
export interface SpeedMeter {
  /** @param at milliseconds of a monotonic clock */
  add(bytes: number, at: number): void;
  bytesPerSecond(at: number): number;
  /** Starts over, so that a pause does not count as low speed. */
  reset(): void;
}

const WINDOW_MS = 5000;
/** A shorter span gives no meaningful speed. */
const MIN_SPAN_MS = 250;
/** Merges samples of this interval to bound their number. */
const SAMPLE_MS = 100;

export function createSpeedMeter(): SpeedMeter {
  let samples: { at: number; bytes: number }[] = [];
  let began: number | undefined;
  return {
    add(bytes, at) {
      began ??= at;
      const last = samples.at(-1);
      if (last && at - last.at < SAMPLE_MS) last.bytes += bytes;
      else samples.push({ at, bytes });
      samples = samples.filter((sample) => at - sample.at <= WINDOW_MS);
    },
    bytesPerSecond(at) {
      const span = Math.min(at - (began ?? at), WINDOW_MS);
      if (span < MIN_SPAN_MS) return 0;
      const bytes = samples
        .filter((sample) => at - sample.at <= WINDOW_MS)
        .reduce((sum, sample) => sum + sample.bytes, 0);
      return Math.round((bytes / span) * 1000);
    },
    reset() {
      samples = [];
      began = undefined;
    },
  };
}
