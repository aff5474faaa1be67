/** The segments of a source in order, as far as they are known. */
export interface Timeline {
  /** Consecutive sequence numbers. */
  readonly segments: readonly Segment[];
  /** False while more may come. */
  readonly isComplete: boolean;
  /** Durations are whole seconds, so that many segments may last much longer or shorter than they add up to. */
  readonly isRounded?: true;
  /** Seconds after which a live source may have more. */
  readonly reloadSeconds: number;
}

export interface Segment {
  /** Names the segment across reloads. */
  readonly sequence: number;
  readonly seconds: number;
  readonly content: MediaSection;
  /** The initialization section that this segment needs before it. */
  readonly init?: MediaSection;
  /** Its clock and its coding may have nothing to do with those of the segment before it (RFC 8216 §4.3.2.3). */
  readonly isAnew?: true;
  /**
   * The source says that it has no media for this time: nothing is fetched. Time passes all the same: what comes behind
   * keeps its place, so that players stand still for a moment or go on behind it, and MP3 is silent. A stream with such
   * a gap is as complete as its source; a segment that is missing without being called a gap still breaks it.
   */
  readonly isGap?: true;
}

/** A file, or a run of bytes in it. */
export interface MediaSection {
  readonly url: string;
  /** Offsets in bytes, both included; absent: all of it. */
  readonly range?: { readonly first: number; readonly last: number };
  readonly cipher?: Cipher;
}

/** AES-128 in CBC mode with PKCS7 padding (RFC 8216 §4.3.2.4). */
export interface Cipher {
  readonly keyUrl: string;
  /** 16 bytes. */
  readonly iv: Buffer;
}

/** Where a segment begins: its index and the seconds before it. Past the end: the last one. In a gap: the one before. */
export function findSegment(segments: readonly Segment[], seconds: number): { index: number; startSeconds: number } {
  let place = { index: 0, startSeconds: 0 };
  let startSeconds = 0;
  for (const [index, segment] of segments.entries()) {
    if (!segment.isGap) place = { index, startSeconds };
    startSeconds += segment.seconds;
    if (seconds < startSeconds) break;
  }
  return place;
}

/** A recording begins with its first media and ends with its last, whatever time a list leaves empty around them. */
export function withoutOuterGaps(segments: readonly Segment[]): readonly Segment[] {
  const isMedia = ({ isGap }: Segment) => !isGap;
  const first = segments.findIndex(isMedia);
  return first < 0 ? [] : segments.slice(first, segments.findLastIndex(isMedia) + 1);
}

/** Seconds of the longest time in which nothing is there. */
export function longestGap(segments: readonly Segment[]): number {
  let longest = 0;
  let current = 0;
  for (const { isGap, seconds } of segments) {
    current = isGap ? current + seconds : 0;
    longest = Math.max(longest, current);
  }
  return longest;
}

/** Whether clock or initialization begin anew anywhere behind the first segment. */
export function isDiscontinuity(segments: readonly Segment[]): boolean {
  const media = segments.filter(({ isGap }) => !isGap);
  return media.slice(1).some(({ isAnew, init }, index) => isAnew || !isSameSection(init, media[index]?.init));
}

/** Seconds of all segments together. */
export const durationOf = (segments: readonly Segment[]): number =>
  Math.round(segments.reduce((sum, { seconds }) => sum + seconds, 0) * 1e6) / 1e6;

/** The segment of that number; undefined when it is not listed (any more). */
export const segmentAt = ({ segments }: Timeline, sequence: number): Segment | undefined =>
  segments[sequence - (segments[0]?.sequence ?? 0)];

/** The same bytes behind the same initialization, as far as a list can tell. */
export const isSameSection = (a: MediaSection | undefined, b: MediaSection | undefined): boolean =>
  a === b || (a?.url === b?.url && a?.range?.first === b?.range?.first && a?.range?.last === b?.range?.last);

/** Whether a complete list that was found again stands for the same media. */
export const isSameMedia = (before: Timeline, after: Timeline): boolean =>
  !before.isComplete ||
  (after.isComplete &&
    before.segments.length === after.segments.length &&
    before.segments.every(({ seconds }, index) => Math.abs(seconds - (after.segments[index]?.seconds ?? 0)) < 0.1));
