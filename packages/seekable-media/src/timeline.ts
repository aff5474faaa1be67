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

/** A file, or a byte range of it. */
export interface MediaSection {
  readonly url: string;
  /** Offsets in bytes, both included; absent: the whole file. */
  readonly range?: { readonly first: number; readonly last: number };
  readonly cipher?: Cipher;
}

/** AES-128 in CBC mode with PKCS7 padding (RFC 8216 §4.3.2.4). */
interface Cipher {
  readonly keyUrl: string;
  /** 16 bytes. */
  readonly iv: Buffer;
}

/** The key of a section, before its URI is resolved. */
interface RelativeCipher {
  readonly keyUri: string;
  readonly iv: () => Buffer;
}

/** A section whose URL is resolved on each use. Sections of one list share its base. */
export class RelativeSection implements MediaSection {
  /** As written. */
  readonly uri: string;
  readonly base: string;
  readonly range: MediaSection['range'];
  readonly #cipher: RelativeCipher | undefined;

  constructor(uri: string, base: string, range?: MediaSection['range'], cipher?: RelativeCipher) {
    this.uri = uri;
    this.base = base;
    this.range = range;
    this.#cipher = cipher;
  }

  /** Empty when the reference is invalid. */
  get url(): string {
    return URL.parse(this.uri, this.base)?.href ?? '';
  }

  get cipher(): Cipher | undefined {
    if (!this.#cipher) return undefined;
    const { keyUri, iv } = this.#cipher;
    return { keyUrl: URL.parse(keyUri, this.base)?.href ?? '', iv: iv() };
  }
}

/** Whether two sections have the same URL. Compares references to one base as written, which takes less time. */
export function isSameUrl(a: MediaSection | undefined, b: MediaSection | undefined): boolean {
  if (a instanceof RelativeSection && b instanceof RelativeSection && a.base === b.base) return a.uri === b.uri;
  return a?.url === b?.url;
}

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
export interface SequenceRange {
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
): SequenceRange | 'untimed' | 'early' | 'empty' {
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
  { first, last }: SequenceRange,
): readonly Segment[] | undefined {
  const from = first - (segments[0]?.sequence ?? 0);
  const found = from < 0 ? [] : segments.slice(from, from + last - first + 1);
  return found.at(-1)?.sequence === last ? found : undefined;
}
