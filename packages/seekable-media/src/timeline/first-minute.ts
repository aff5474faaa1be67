import { durationOf, findSegment } from './timeline.ts';

/** Seconds of media from which on sources that stop after the first minute have stopped: they serve 60 to 65 of a file. */
const OFFSET_SECONDS = 75;
/** Shorter media are served whole. */
const MIN_DURATION_SECONDS = 60;
/** The start of a file that is served whatever its bitrate. */
const MIN_OFFSET_BYTES = 1024 * 1024;

/** The offset of a file behind its first minute; undefined where nothing shows that it is longer than what is always served. */
export function offsetAfterFirstMinute(
  sizeBytes: number | undefined,
  durationSeconds: number | undefined,
): number | undefined {
  if (sizeBytes === undefined || sizeBytes <= MIN_OFFSET_BYTES) return undefined;
  if (durationSeconds !== undefined && durationSeconds <= MIN_DURATION_SECONDS) return undefined;
  const offset = durationSeconds === undefined ? sizeBytes / 2 : (sizeBytes / durationSeconds) * OFFSET_SECONDS;
  return Math.min(Math.max(Math.ceil(offset), MIN_OFFSET_BYTES), sizeBytes - 1);
}

/** A segment behind the first minute of a complete list; undefined where it is not longer than that. */
export function segmentAfterFirstMinute<Listed extends { readonly seconds: number; readonly isGap?: boolean }>(
  segments: readonly Listed[],
): Listed | undefined {
  return durationOf(segments) > MIN_DURATION_SECONDS ? segments[findSegment(segments, OFFSET_SECONDS)] : undefined;
}
