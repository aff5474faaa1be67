import { indexBox, type Sample, type TrackHeader } from '../isobmff/index.ts';
import { type ClipWindow, parsePresentationTime, samplesOf } from './clip-window.ts';

/** When the samples of a track are decoded and presented in the output. */
export interface SampleTiming {
  /** Units per second. */
  readonly timescale: number;
  /** Composition time at which the presentation starts. */
  readonly startTime: number;
  /** @param index of the sample in the output */
  timeOf(sample: Sample, index: number): Pick<Sample, 'duration' | 'compositionOffset'>;
}

/** As in the source, one window after the other. */
export function copyTiming(windows: readonly ClipWindow[], isVideo = false): SampleTiming {
  const [first] = windows;
  const { startTime = 0, decodeTime = 0 } = first ?? {};
  const shift = Math.max(0, ...windows.map(({ compositionShift }) => compositionShift));
  const timescale = first?.track.header.timescale ?? 1;
  const divisor = first && !isVideo ? divisorOf(first.track.header) : 1;
  const toUnits = (time: number) => Math.round(time / divisor);
  return {
    timescale: timescale / divisor,
    startTime: toUnits(startTime - decodeTime + shift),
    timeOf: ({ duration, compositionOffset }) => ({
      duration: toUnits(duration),
      compositionOffset: toUnits(compositionOffset + shift),
    }),
  };
}

/** Offset of the sampling rate in the content of an audio entry (ISO/IEC 14496-12 §12.2.3). */
const RATE_AT = 24;
/** With SBR, twice the rate that an entry tells is that of its track. */
const MIN_DIVISOR = 3;

/**
 * How many units of a track are one sample of its audio where it shares the time scale of video: libavformat takes what an edit list
 * leaves out at the start for a number of samples, whatever the time scale is.
 */
function divisorOf({ sampleDescriptions, timescale }: TrackHeader): number {
  const [entry] = indexBox(sampleDescriptions)?.childrenAfter(8) ?? [];
  if (!entry || entry.end - entry.content < RATE_AT + 4) return 1;
  const divisor = timescale / entry.bytes.readUInt16BE(entry.content + RATE_AT);
  return Number.isInteger(divisor) && divisor >= MIN_DIVISOR ? divisor : 1;
}

/** A part that is kept: where it starts in the source and in the output. */
export interface TimedPart {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly outputSeconds: number;
}

/** A unit is short where frames that are only decoded are presented one unit after another. */
const MIN_TIMESCALE = 90_000;

/** Whether frames are only decoded before the presentation starts. */
export const hasHiddenFrames = ([first]: readonly ClipWindow[]): boolean =>
  first !== undefined && samplesOf([first]).some(isBefore(first.startTime));

const isBefore =
  (time: number) =>
  ({ decodeTime, compositionOffset }: Sample): boolean =>
    decodeTime + compositionOffset < time;

/**
 * The frames of the parts, each at its place in the output. Those before the first part, which decoders need, come one unit
 * after another up to its start: the edit list hides them, but Firefox shows what is before the start of an edit. Those
 * between two parts come in the same way where the second part begins, so that its first frame is late by some milliseconds at
 * most. An edit list of several entries would hide them; but Firefox plays the first entry alone, and players by FFmpeg seek
 * wrongly with it.
 */
export function timeParts(windows: readonly ClipWindow[], parts: readonly TimedPart[]): SampleTiming {
  const [first] = windows;
  if (!first) throw new TypeError('A track has a window');
  const { header } = first.track;
  const { shiftSeconds } = parsePresentationTime(header);
  const factor = Math.ceil(MIN_TIMESCALE / header.timescale);
  const timescale = header.timescale * factor;
  const places = parts.map(({ startSeconds, endSeconds, outputSeconds }, index) => ({
    /** What composition times of the part get added. */
    shift: Math.round((outputSeconds + shiftSeconds - startSeconds) * timescale),
    start: index === 0 ? Number.NEGATIVE_INFINITY : Math.round(outputSeconds * timescale),
    sourceEnd: index === parts.length - 1 ? Number.POSITIVE_INFINITY : (endSeconds - shiftSeconds) * timescale,
  }));
  const decoded = Float64Array.from(compositionTimes(windows, factor));
  const sorted = decoded.toSorted();
  const presented = new Float64Array(sorted.length);
  const startTime = first.startTime * factor;
  const hidden = sorted.findIndex((time) => time >= startTime);
  const startPlace = startTime + (places[0]?.shift ?? 0);
  let [part, last] = [0, startPlace - hidden - 1];
  for (const [index, time] of sorted.entries()) {
    if (index < hidden) {
      last += 1;
      presented[index] = last;
      continue;
    }
    while (time >= (places[part]?.sourceEnd ?? Number.POSITIVE_INFINITY)) part += 1;
    const { shift = 0, start = 0 } = places[part] ?? {};
    last = Math.max(time + shift, start, last + 1);
    presented[index] = last;
  }
  const timeAt = (index: number) => presented[index] ?? 0;
  /** The time in the output of what is presented at a time of the source. */
  const outputTime = (time: number) => timeAt(findIndex(sorted, time));
  // Frames are decoded in the order of the source, each when one is presented: some earlier than they are needed.
  let delay = 0;
  for (const [index, time] of decoded.entries()) delay = Math.max(delay, timeAt(index) - outputTime(time));
  return {
    timescale,
    startTime: outputTime(startTime) - timeAt(0) + delay,
    timeOf: ({ duration }, index) => ({
      duration: index + 1 < presented.length ? timeAt(index + 1) - timeAt(index) : duration * factor,
      compositionOffset: outputTime(decoded[index] ?? 0) - timeAt(index) + delay,
    }),
  };
}

function* compositionTimes(windows: readonly ClipWindow[], factor: number): Generator<number> {
  for (const { decodeTime, compositionOffset } of samplesOf(windows)) yield (decodeTime + compositionOffset) * factor;
}

/** The position of a value in a sorted list that has it. */
function findIndex(sorted: Float64Array, value: number): number {
  let low = 0;
  for (let high = sorted.length - 1; low < high; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
