/** A part of a presentation, in seconds. */
export interface Span {
  readonly startSeconds: number;
  /** Infinite: to the end. */
  readonly endSeconds: number;
}

/** A part of a presentation, without some parts of it. */
export interface ClipTimes extends Span {
  /** In order, without overlaps. Absent: nothing is left out. */
  readonly skipped?: readonly Span[];
}

/** Whether nothing but `skipped` limits them. */
export const isWhole = ({ startSeconds, endSeconds }: ClipTimes): boolean =>
  startSeconds === 0 && endSeconds === Number.POSITIVE_INFINITY;

/** Sources round durations: what ends less than this before the end lasts to the end. */
const END_TOLERANCE_SECONDS = 1;

/** Infinite for an end that is that of the media. @param durationSeconds of the media. @default unknown */
export const endOrInfinity = (endSeconds: number, durationSeconds = Number.POSITIVE_INFINITY): number =>
  endSeconds > durationSeconds - END_TOLERANCE_SECONDS ? Number.POSITIVE_INFINITY : endSeconds;

/** A shorter part between two that are left out is left out with them. */
const MIN_KEPT_SECONDS = 0.1;

/** What remains, in order; empty: nothing. */
export function keptParts({ startSeconds, endSeconds, skipped }: ClipTimes): readonly Span[] {
  if (!skipped) return [{ startSeconds, endSeconds }];
  const parts: Span[] = [];
  let at = startSeconds;
  for (const span of [...skipped, { startSeconds: endSeconds, endSeconds }]) {
    const end = Math.min(span.startSeconds, endSeconds);
    if (end - at >= MIN_KEPT_SECONDS) parts.push({ startSeconds: at, endSeconds: end });
    at = Math.max(at, span.endSeconds);
  }
  return parts;
}
