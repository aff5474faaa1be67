import { type MediaSection, RelativeSection, type Segment, type Timeline } from '../timeline/index.ts';

/** A fragment of a DASH representation, as yt-dlp lists it. */
export interface DashFragment {
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

/** The timeline of DASH fragments. A live list slides: a fragment that both lists contain keeps its sequence number. */
export function dashTimeline(
  fragments: readonly DashFragment[],
  { isLive, baseUrl, previous }: DashTimelineOptions,
): Timeline {
  const sectionOf = (url: string): MediaSection => (baseUrl ? new RelativeSection(url, baseUrl) : { url });
  const media = mediaFragments(fragments, sectionOf);
  const first = isLive && previous ? firstSequence(media, previous) : 0;
  const segments = media.map(
    ({ fragment: { url, seconds }, init, isDiscontinuity }, index): Segment => ({
      sequence: first + index,
      seconds,
      content: sectionOf(url),
      init,
      isDiscontinuity,
    }),
  );
  return { segments, isComplete: !isLive, reloadSeconds: segments.at(-1)?.seconds || DEFAULT_RELOAD_SECONDS };
}

interface MediaFragment {
  readonly fragment: DashFragment;
  readonly init: MediaSection | undefined;
  readonly isDiscontinuity: boolean;
}

/**
 * Separates media from initialization segments. An initialization segment has a duration of 0 and precedes the media it
 * belongs to: one at the start, and one more per further period (yt-dlp concatenates the periods). A representation
 * with self-initializing segments has none.
 */
function mediaFragments(
  fragments: readonly DashFragment[],
  sectionOf: (url: string) => MediaSection,
): readonly MediaFragment[] {
  const isTimed = fragments.some(({ seconds }) => seconds > 0);
  const media: MediaFragment[] = [];
  let init: MediaSection | undefined;
  let isDiscontinuity = false;
  for (const [index, fragment] of fragments.entries()) {
    const isInit = fragment.seconds === 0 && (isTimed || index === 0) && index < fragments.length - 1;
    if (isInit) init = sectionOf(fragment.url);
    else media.push({ fragment, init, isDiscontinuity });
    isDiscontinuity = isInit && index > 0;
  }
  return media;
}

function firstSequence(media: readonly MediaFragment[], previous: Timeline): number {
  const sequences = new Map(previous.segments.map(({ content, sequence }) => [stablePart(content), sequence]));
  for (const [index, { fragment }] of media.entries()) {
    const sequence = sequences.get(stablePart(fragment));
    if (sequence !== undefined) return sequence - index;
  }
  return (previous.segments.at(-1)?.sequence ?? -1) + 1;
}

/** The part of a URL that survives a new signature: its path, or a relative reference without its query. */
function stablePart(section: MediaSection): string {
  const written = section instanceof RelativeSection ? section.uri : section.url;
  return URL.parse(written)?.pathname ?? written.replace(/[?#].*/s, '');
}
