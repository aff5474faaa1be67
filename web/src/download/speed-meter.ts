/** The speed of the last few seconds: steady enough to read, quick enough to be true. */
export interface SpeedMeter {
  /** @param at milliseconds of a clock that only goes forward */
  add(bytes: number, at: number): void;
  bytesPerSecond(at: number): number;
  /** Begins anew: a pause is no slowness. */
  reset(): void;
}

const WINDOW_MS = 5000;
/** Too little time to tell anything, milliseconds. */
const MIN_SPAN_MS = 250;
/** Samples are put together so that there are never many. */
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
