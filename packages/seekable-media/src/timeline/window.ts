import { durationOf, type Segment } from './timeline.ts';

/** A moment of a live stream: seconds before its newest media, or a time of day. */
export type WindowTime = { readonly secondsAgo: number } | { readonly epochMs: number };

/** A part of what a live list holds. */
export interface WindowTimes {
  /** Absent: the oldest that is held. */
  readonly start?: WindowTime;
  /** Absent: the newest. */
  readonly end?: WindowTime;
}

/** Sequence numbers of segments, both included. */
export interface WindowPlace {
  readonly first: number;
  readonly last: number;
}

/** The segments with the times that follow from the one before them, or the one behind them (RFC 8216 §4.3.2.6), up to a discontinuity. */
export function withTimes(segments: readonly Segment[]): readonly Segment[] {
  let next: number | undefined;
  const timed = segments.map((segment) => {
    const startsAtMs = segment.startsAtMs ?? (segment.isDiscontinuity ? undefined : next);
    next = startsAtMs === undefined ? undefined : startsAtMs + segment.seconds * 1000;
    return startsAtMs === undefined ? segment : { ...segment, startsAtMs };
  });
  for (let index = timed.length - 1; index > 0; index--) {
    const [before, after] = [timed[index - 1] as Segment, timed[index] as Segment];
    if (before.startsAtMs !== undefined || after.startsAtMs === undefined || after.isDiscontinuity) continue;
    timed[index - 1] = { ...before, startsAtMs: after.startsAtMs - before.seconds * 1000 };
  }
  return timed;
}

/**
 * The segments that have media of a window, as far as they are listed.
 * @param segments as `withTimes` returns them
 * @returns `untimed`: the list states no times of day; `early`: all of the window lies before the list; `empty`: it has
 *   no media, or none yet
 */
export function selectWindow(
  segments: readonly Segment[],
  { start, end }: WindowTimes,
): WindowPlace | 'untimed' | 'early' | 'empty' {
  const isTimed = segments.some(({ startsAtMs }) => startsAtMs !== undefined);
  if (!isTimed && [start, end].some((time) => time && 'epochMs' in time)) return 'untimed';
  let left = durationOf(segments);
  const inside: number[] = [];
  let isEarly = false;
  for (const { sequence, seconds, startsAtMs, isGap } of segments) {
    const span = { before: left, after: left - seconds, startsAtMs, seconds };
    left -= seconds;
    const isBeforeEnd = !end || compare(span, end).start < 0;
    const isAfterStart = !start || compare(span, start).end > 0;
    if (sequence === segments[0]?.sequence) isEarly = !isBeforeEnd;
    if (isBeforeEnd && isAfterStart && !isGap) inside.push(sequence);
  }
  const [first] = inside;
  return first === undefined ? (isEarly ? 'early' : 'empty') : { first, last: inside.at(-1) ?? first };
}

interface Span {
  /** Seconds from its start, and from its end, to the end of the list. */
  readonly before: number;
  readonly after: number;
  readonly startsAtMs: number | undefined;
  readonly seconds: number;
}

/** Durations are sums of decimals: less is no media. */
const TOLERANCE_SECONDS = 0.001;

/** How far the start and the end of a segment lie behind a time: seconds, 0 within the tolerance. */
function compare(span: Span, time: WindowTime): { readonly start: number; readonly end: number } {
  const round = (seconds: number) => (Math.abs(seconds) < TOLERANCE_SECONDS ? 0 : seconds);
  if ('secondsAgo' in time)
    return { start: round(time.secondsAgo - span.before), end: round(time.secondsAgo - span.after) };
  // Media without a time of day, after a discontinuity, is in no window of such times.
  if (span.startsAtMs === undefined) return { start: Number.NaN, end: Number.NaN };
  const start = (span.startsAtMs - time.epochMs) / 1000;
  return { start: round(start), end: round(start + span.seconds) };
}

/** The segments of a window; undefined when not all of them are there. */
export function windowSegments(
  segments: readonly Segment[],
  { first, last }: WindowPlace,
): readonly Segment[] | undefined {
  const from = first - (segments[0]?.sequence ?? 0);
  const found = from < 0 ? [] : segments.slice(from, from + last - first + 1);
  return found.at(-1)?.sequence === last ? found : undefined;
}
