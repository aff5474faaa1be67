import { isSameUrl, type MediaSection, RelativeSection } from './media-section.ts';

/** The segments of an HLS or DASH presentation in order, as far as they are listed. */
export interface Timeline {
  /** Sequence numbers are consecutive. */
  readonly segments: readonly Segment[];
  /** False while the list may grow: a live presentation. */
  readonly isComplete: boolean;
  /** Durations are whole seconds: their sum may differ from the real duration by far. Absent: they may be those of a template. */
  readonly isRounded?: boolean;
  /** Another process may give the segments of a live list other numbers. @default false */
  readonly isUnnumbered?: boolean;
  /** Seconds after which to reload a live list: of HLS, its target duration. */
  readonly reloadSeconds: number;
  /** Discontinuities that have left a live list (RFC 8216 §4.3.3.3). @default 0 */
  readonly discontinuitySequence?: number;
}

export interface Segment {
  /** Identifies the segment across reloads. */
  readonly sequence: number;
  readonly seconds: number;
  readonly content: MediaSection;
  /** The initialization section that this segment needs before it. */
  readonly init?: MediaSection;
  /** Timestamps and encoding may change at the start of this segment (RFC 8216 §4.3.2.3). @default false */
  readonly isDiscontinuity?: boolean;
  /** It begins when the list says, by the durations before it, however long their media is: so do all tracks. @default false */
  readonly isTimedByList?: boolean;
  /**
   * The list declares that there is no media for this time (draft-pantos-hls-rfc8216bis §4.4.4.7): nothing is fetched.
   * Later segments keep their time, so players pause or skip, and MP3 is silent. A stream with a declared gap is
   * complete; a segment that is missing without such a declaration still fails the stream. @default false
   */
  readonly isGap?: boolean;
  /** When it begins, epoch milliseconds, where the list says so (RFC 8216 §4.3.2.6). */
  readonly startsAtMs?: number;
}

const isMedia = ({ isGap }: Pick<Segment, 'isGap'>): boolean => !isGap;

/** The index of the segment that contains a time. Past the end: of the last one. In a gap: of the one before the gap. */
export function findSegment(segments: readonly Pick<Segment, 'seconds' | 'isGap'>[], seconds: number): number {
  let found = 0;
  let endSeconds = 0;
  for (const [index, segment] of segments.entries()) {
    if (isMedia(segment)) found = index;
    endSeconds += segment.seconds;
    if (seconds < endSeconds) break;
  }
  return found;
}

/** Removes gaps at both ends: a recording begins with its first media and ends with its last. */
export function trimGaps<S extends Pick<Segment, 'isGap'>>(segments: readonly S[]): readonly S[] {
  const first = segments.findIndex(isMedia);
  return first < 0 ? [] : segments.slice(first, segments.findLastIndex(isMedia) + 1);
}

/** Seconds of the longest run of gaps. */
export function longestGapSeconds(segments: readonly Segment[]): number {
  let longest = 0;
  let current = 0;
  for (const { isGap, seconds } of segments) {
    current = isGap ? current + seconds : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}

/** Whether timestamps or initialization may change after the first segment. */
export function hasDiscontinuity(segments: readonly Segment[]): boolean {
  let before: Segment | undefined;
  return segments.some((segment) => {
    if (!isMedia(segment)) return false;
    const changes = before && (segment.isDiscontinuity || !isSameSection(segment.init, before.init));
    before = segment;
    return changes;
  });
}

/** Seconds of all segments together, rounded to the microsecond. */
export const durationOf = (segments: readonly Pick<Segment, 'seconds'>[]): number =>
  Math.round(segments.reduce((sum, { seconds }) => sum + seconds, 0) * 1e6) / 1e6;

/** The segment with a sequence number; undefined when it is not listed, or no longer. */
export const segmentAt = ({ segments }: Timeline, sequence: number): Segment | undefined =>
  segments[sequence - (segments[0]?.sequence ?? 0)];

/** Whether two sections have the same URL and byte range. */
export const isSameSection = (a: MediaSection | undefined, b: MediaSection | undefined): boolean =>
  a === b || (isSameUrl(a, b) && a?.range?.first === b?.range?.first && a?.range?.last === b?.range?.last);

/** Seconds by which a segment's duration may differ between two loads of the same list. */
const DURATION_TOLERANCE_SECONDS = 0.1;

/**
 * Whether a complete list that was loaded again still describes the same media. A live list always may change. URLs may be others, with
 * other names: a name that both lists have stands at the same place in them.
 */
export function isSameMedia(before: Timeline, after: Timeline): boolean {
  if (!before.isComplete) return true;
  if (!after.isComplete || before.segments.length !== after.segments.length) return false;
  const names = new Set(before.segments.map(nameOfFile));
  return before.segments.every((segment, index) => {
    const other = after.segments[index];
    if (!other || Math.abs(segment.seconds - other.seconds) >= DURATION_TOLERANCE_SECONDS) return false;
    const name = nameOfFile(other);
    return shapeOf(segment) === shapeOf(other) && (name === nameOfFile(segment) || !names.has(name));
  });
}

/** The last part of the path, which tokens in URLs leave as it is. */
function nameOfFile({ content }: Segment): string {
  const uri = content instanceof RelativeSection ? content.uri : content.url;
  return /[^/]*$/.exec(uri.split(/[?#]/, 1)[0] ?? '')?.[0] ?? '';
}

/** What a list says of a segment besides its duration and its URL. */
const shapeOf = ({ content, init, isGap, isDiscontinuity }: Segment): string =>
  [
    ...[isGap, isDiscontinuity, init !== undefined].map(Boolean),
    ...[content, init].flatMap((section) => [section?.range?.first, section?.range?.last, Boolean(section?.cipher)]),
  ].join();

/** What the text of an HLS playlist or a DASH manifest says about its presentation, without reading any media. */
export interface ManifestFacts {
  /** Seconds; undefined for a live presentation, or when the manifest does not say. */
  readonly durationSeconds?: number;
  /** The durations of segments are whole seconds: their sum is not to be relied on. */
  readonly isRounded?: true;
  /** URI of the first segment, as written. */
  readonly segment?: string;
  /** URI of the initialization section, as written. */
  readonly initialization?: string;
  /** URI of the key, as written. */
  readonly key?: string;
  /** AES-128 initialization vector of the first segment, 16 bytes; absent: not encrypted, or by another method. */
  readonly iv?: Buffer;
  /** A segment behind the first minute, where there is one: URI as written, and offset of its first byte. */
  readonly later?: { readonly uri: string; readonly offset: number };
}
