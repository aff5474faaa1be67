import { type ManifestFacts, type MediaSection, RelativeSection, type Segment, type Timeline } from './timeline.ts';
import { duration } from './values.ts';

/** A fragment of a DASH representation, as yt-dlp lists it. */
export interface DashSegment {
  /** Absolute, or relative to the base of the list. */
  readonly url: string;
  /** 0 for an initialization segment. */
  readonly seconds: number;
}

/** Seconds between reloads when the last fragment has no duration. */
const DEFAULT_RELOAD_SECONDS = 6;

export interface DashTimelineOptions {
  readonly isLive: boolean;
  /** Absent: the URLs of fragments are absolute. */
  readonly baseUrl?: string;
  /** The timeline before this reload. */
  readonly previous?: Timeline;
}

/**
 * The timeline of DASH fragments. A live list slides: its segments have the numbers that their names tell, and a fragment that
 * the list before this reload contains too keeps its sequence number. Segments are made when they are read: so many that a
 * caller may return to the event loop in between.
 */
export function dashTimeline(
  fragments: readonly DashSegment[],
  { isLive, baseUrl, previous }: DashTimelineOptions,
): Omit<Timeline, 'segments'> & { readonly segments: Iterable<Segment> } {
  const sectionOf = (url: string): MediaSection => (baseUrl ? new RelativeSection(url, baseUrl) : { url });
  const listed = () => dashSegments(fragments, sectionOf);
  const first = isLive ? (previous ? firstSequence(listed(), previous) : firstNumber(listed())) : 0;
  return {
    ...(first === undefined && { isUnnumbered: true }),
    segments: dashSegments(fragments, sectionOf, first),
    isComplete: !isLive,
    // The last fragment is always media.
    reloadSeconds: fragments.at(-1)?.seconds || DEFAULT_RELOAD_SECONDS,
  };
}

/**
 * Separates media from initialization segments. An initialization segment has a duration of 0 and precedes the media it
 * belongs to: one at the start, and one more per further period (`_reelay_periods.py` joins them). A representation
 * with self-initializing segments has none.
 */
function* dashSegments(
  fragments: readonly DashSegment[],
  sectionOf: (url: string) => MediaSection,
  first = 0,
): Generator<Segment> {
  const isTimed = fragments.some(({ seconds }) => seconds > 0);
  let sequence = first;
  let init: MediaSection | undefined;
  let isDiscontinuity = false;
  for (const [index, { url, seconds }] of fragments.entries()) {
    const isInit = seconds === 0 && (isTimed || index === 0) && index < fragments.length - 1;
    if (isInit) init = sectionOf(url);
    else
      yield {
        sequence: sequence++,
        seconds,
        content: sectionOf(url),
        init,
        isDiscontinuity,
        isTimedByList: isDiscontinuity,
      };
    isDiscontinuity = isInit && index > 0;
  }
}

/** Segments at the start of two live lists that are compared: more do not leave it from one reload to the next. */
const MAX_COMPARED = 10_000;

function firstSequence(segments: Generator<Segment>, previous: Timeline): number {
  const sequences = new Map<string, number>();
  // A name that occurs again, as that of a repeated advertisement, tells nothing.
  for (const { content, sequence } of previous.segments.slice(0, MAX_COMPARED))
    for (const name of namesOf(content)) sequences.set(name, sequences.has(name) ? Number.NaN : sequence);
  for (const { content, sequence } of segments.take(MAX_COMPARED))
    for (const name of namesOf(content)) {
      const known = sequences.get(name) ?? Number.NaN;
      if (known >= 0) return known - sequence;
    }
  return (previous.segments.at(-1)?.sequence ?? -1) + 1;
}

/**
 * The number that `$Number$` has put into the path of the first segment (ISO/IEC 23009-1 §5.3.9.4.4): every process finds the same
 * in every later list. Undefined when the paths do not differ by such a number alone, as of `$Time$`, or a segment is missing.
 */
function firstNumber(segments: Generator<Segment>): number | undefined {
  const paths = Array.from(segments.take(MAX_COMPARED), ({ content }) => stablePart(content));
  // In turns: text, digits, text and so on.
  const [first = [], second = []] = paths.slice(0, 2).map((path) => path.split(/(\d+)/));
  const place = first.findIndex((part, index) => part !== second[index]);
  if (place % 2 !== 1) return undefined;
  const number = Number(first[place]);
  const [before, after] = [first.slice(0, place).join(''), first.slice(place + 1).join('')];
  const isNumbered = (path: string, index: number) => {
    const digits = path.slice(before.length, path.length - after.length);
    return /^\d+$/.test(digits) && Number(digits) === number + index && path === before + digits + after;
  };
  return paths.every(isNumbered) && Number.isSafeInteger(number + paths.length) ? number : undefined;
}

/** What a new signature may change of a URL: all but its path. */
const UNSTABLE_PARTS = /^[a-z][\w+.-]*:\/\/[^/?#]*|[?#].*/gi;

const writtenUrl = (section: MediaSection): string => (section instanceof RelativeSection ? section.uri : section.url);
const stablePart = (section: MediaSection): string => writtenUrl(section).replaceAll(UNSTABLE_PARTS, '');

/** The best first: its query alone may tell a segment from others. */
const namesOf = (section: MediaSection): ReadonlySet<string> => new Set([writtenUrl(section), stablePart(section)]);

/**
 * The fragments of a DASH representation as a resource keeps them: two values take a fraction of the memory and of the time
 * to read and write that as many objects take.
 */
export interface DashSegmentList {
  /** Absolute, or relative to the base of the list; separated by line feeds. */
  readonly urls: string;
  /** Durations in the order of the fragments, as pairs: how many fragments, and microseconds of each of them. */
  readonly durations: readonly number[];
}

const MICROSECONDS = 1_000_000;

/** @param fragments at least one */
export function packDashSegments(fragments: readonly DashSegment[]): DashSegmentList {
  const durations: number[] = [];
  for (const { seconds } of fragments) {
    const microseconds = Math.round(seconds * MICROSECONDS);
    const last = durations.length - 2;
    if (durations[last + 1] === microseconds) durations[last] = (durations[last] ?? 0) + 1;
    else durations.push(1, microseconds);
  }
  // WHATWG URL parsing removes them too.
  const urls = fragments.map(({ url }) => url.replace(/[\t\n\r]/g, '')).join('\n');
  return { urls, durations };
}

/** The fragments, one after the other: so many that a caller may return to the event loop in between. */
export function* unpackDashSegments({ urls, durations }: DashSegmentList): Generator<DashSegment> {
  let pair = 0;
  let used = 0;
  for (const url of urls.split('\n')) {
    if (used === durations[pair]) [pair, used] = [pair + 2, 0];
    used += 1;
    yield { url, seconds: (durations[pair + 1] ?? 0) / MICROSECONDS };
  }
}

/** The URL of the first fragment. */
export const firstFragmentUrl = ({ urls }: DashSegmentList): string => urls.split('\n', 1)[0] ?? '';

/** Characters that are searched for the root element: comments may precede it. */
const MAX_ROOT_OFFSET = 64 * 1024;
/** Ends at the next bracket of either kind, so that no two attempts read the same characters. */
const ROOT = /<(?:\w+:)?MPD\b([^<>]*)>/;
/** xs:duration. Years and months have no fixed length: there are none of them. */
const DURATION = /^P(?:0+Y)?(?:0+M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/;

/**
 * Extracts facts from the root element of a DASH manifest (ISO/IEC 23009-1 §5.3.1).
 * @returns undefined when the text is not a DASH manifest
 */
export function scanDashManifest(text: string): ManifestFacts | undefined {
  const root = ROOT.exec(text.slice(0, MAX_ROOT_OFFSET))?.[1];
  if (root === undefined) return undefined;
  const written = /\bmediaPresentationDuration\s*=\s*["']([^"']+)["']/.exec(root)?.[1] ?? '';
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    DURATION.exec(written)?.map((part) => Number(part ?? 0)) ?? [];
  return { durationSeconds: duration(((days * 24 + hours) * 60 + minutes) * 60 + seconds) };
}
