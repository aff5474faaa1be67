import type { RunSample, TrackRun } from './subsegment.ts';

type TimedRun = Pick<TrackRun, 'decodeTime' | 'samples'>;
type Timed = Pick<RunSample, 'duration' | 'compositionOffset'>;

/** When samples are decoded, when they are shown, and the latest times to decode them: each before it and all that follow it are shown. */
function timesOf(decodeTime: number, samples: readonly Timed[], step: number) {
  let end = decodeTime;
  const decoded = samples.map(({ duration }) => {
    end += duration;
    return end - duration;
  });
  const shown = samples.map(({ compositionOffset }, index) => (decoded[index] ?? 0) + compositionOffset);
  const latest = [...shown];
  for (let index = latest.length - 2; index >= 0; index -= 1)
    latest[index] = Math.min(latest[index] ?? 0, (latest[index + 1] ?? 0) - step);
  return { decoded, shown, latest, end };
}

/** The longest time that one of some samples has to be decoded before it is shown. */
export function longestDelay(samples: readonly Timed[]): number {
  const { shown, latest } = timesOf(0, samples, 1);
  return shown.reduce((most, time, index) => Math.max(most, time - (latest[index] ?? 0)), 0);
}

/**
 * A run of a closed group that begins when its first sample is shown. Libavformat takes the sound that is decoded no later than the first
 * picture, and finds it in another place where pictures are decoded before.
 */
export function beginWhenShown<R extends TimedRun>(run: R): R {
  const start = run.decodeTime + (run.samples[0]?.compositionOffset ?? 0);
  return start > run.decodeTime ? moveRun(run, { start, end: Number.POSITIVE_INFINITY, step: 1 }) : run;
}

/** Whether every sample can be decoded after its first one is shown. */
export function isClosedGop({ decodeTime, samples }: TimedRun): boolean {
  const { shown, latest } = timesOf(decodeTime, samples, 1);
  return (latest[0] ?? 0) === (shown[0] ?? 0);
}

/**
 * A run that begins and ends at other times: its samples are shown when they were, and decoded when they were where that is possible.
 * It begins earlier where they would be decoded after they are shown.
 * @param step the least time between two decode times that are changed
 */
export function moveRun<R extends TimedRun>(
  run: R,
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
): R {
  const { samples } = run;
  const { decoded, shown, latest, end: ownEnd } = timesOf(run.decodeTime, samples, step);
  const isLast = end === Number.POSITIVE_INFINITY;
  if (run.decodeTime === start && (isLast || ownEnd === end)) return run;
  const times = samples.map((_, index) => {
    const earliest = Math.min(start + index * step, latest[index] ?? 0);
    const natural = Math.min(decoded[index] ?? 0, end - (samples.length - index) * step);
    return index === 0 ? earliest : Math.max(earliest, natural);
  });
  const lastTime = times.at(-1) ?? 0;
  times.push(isLast ? Math.max(ownEnd, lastTime + step) : Math.max(end, lastTime + step));
  const moved = samples.map((sample, index) => {
    const decodeTime = times[index] ?? 0;
    const duration = (times[index + 1] ?? 0) - decodeTime;
    return { ...sample, duration, compositionOffset: (shown[index] ?? 0) - decodeTime };
  });
  return { ...run, decodeTime: times[0] ?? start, samples: moved };
}
