/** Kinds of segments that viewers report, by the names of the interface of SponsorBlock. */
export const SEGMENT_CATEGORIES = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'hook',
  'filler',
  'music_offtopic',
] as const;
export type SkipCategory = (typeof SEGMENT_CATEGORIES)[number];

/** A part of a video that viewers have reported. */
export interface SkipSegment extends Span {
  readonly category: SkipCategory;
  /** Length of the video that it was reported for. Absent: unknown. */
  readonly videoSeconds?: number;
}

/** The answer is none of the interface. */
export class InvalidSegments extends Error {
  override readonly name = 'InvalidSegments';
}

/** Segments of one video that are read; others are ignored. */
const MAX_SEGMENTS = 200;

/**
 * Parses the segments of a video in an answer, which has those of others as well. Other categories and actions are left out.
 * @param bytes JSON
 * @throws InvalidSegments
 */
export function parseSegments(bytes: Buffer, videoId: string): readonly SkipSegment[] {
  const found: unknown[] = [];
  for (const video of requireList(parseJson(bytes))) {
    const { videoID, segments } = requireRecord(video);
    if (typeof videoID !== 'string') throw new InvalidSegments('A video without an id');
    if (videoID === videoId) found.push(...requireList(segments));
  }
  return found.flatMap((segment) => parseSegment(requireRecord(segment)) ?? []).slice(0, MAX_SEGMENTS);
}

function parseSegment({ segment, category, videoDuration, actionType }: Readonly<Record<string, unknown>>) {
  const [startSeconds, endSeconds, ...more] = requireList(segment);
  if (!isTime(startSeconds) || !isTime(endSeconds) || more.length > 0)
    throw new InvalidSegments('A segment without times');
  if (videoDuration !== undefined && !isTime(videoDuration))
    throw new InvalidSegments('A segment with an invalid duration');
  const known = SEGMENT_CATEGORIES.find((name) => name === category);
  if (!known || actionType !== 'skip' || endSeconds <= startSeconds) return undefined;
  return { startSeconds, endSeconds, category: known, ...(videoDuration ? { videoSeconds: videoDuration } : {}) };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new InvalidSegments('Not JSON', { cause });
  }
}

function requireList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new InvalidSegments('Not a list');
  return value;
}

function requireRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new InvalidSegments('Not an object');
  return value as Readonly<Record<string, unknown>>;
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < 1e7;

/** Segments that were reported for another version of the video have other times. */
const MAX_DIFFERENCE_SECONDS = 1.5;

/** Those that were reported for a video of this duration. */
export const selectSegments = (
  segments: readonly SkipSegment[],
  durationSeconds: number | undefined,
): readonly SkipSegment[] =>
  segments.filter(
    ({ videoSeconds = durationSeconds }) =>
      Math.abs((videoSeconds ?? 0) - (durationSeconds ?? videoSeconds ?? 0)) <= MAX_DIFFERENCE_SECONDS,
  );

/** In order, without overlaps. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = [];
  for (const { startSeconds, endSeconds } of spans.toSorted((a, b) => a.startSeconds - b.startSeconds)) {
    const last = merged.at(-1);
    if (!last || startSeconds > last.endSeconds) merged.push({ startSeconds, endSeconds });
    else merged[merged.length - 1] = { ...last, endSeconds: Math.max(last.endSeconds, endSeconds) };
  }
  return merged;
}

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
