import type { MediaSection, Segment, Timeline } from '../../../core/media/timeline/index.ts';
import type { Fragment } from '../../../core/state/index.ts';

/**
 * The timeline of DASH fragments. A live list slides: what both lists name is the same segment.
 * @param before the list known so far
 */
export function dashTimeline(fragments: readonly Fragment[], isLive: boolean, before?: Timeline): Timeline {
  const media = mediaOf(fragments);
  const first = isLive && before ? firstSequence(media, before) : 0;
  const segments = media.map(
    ({ fragment: { url, seconds }, init, isAnew }, index): Segment => ({
      sequence: first + index,
      seconds,
      content: { url },
      ...(init && { init }),
      ...(isAnew && { isAnew }),
    }),
  );
  const reloadSeconds = segments.at(-1)?.seconds ?? 0;
  return { segments, isComplete: !isLive, reloadSeconds: reloadSeconds || 6 };
}

interface Media {
  readonly fragment: Fragment;
  readonly init: MediaSection | undefined;
  readonly isAnew: boolean;
}

/**
 * An initialization segment lasts 0 seconds and comes before what it is for: one at the beginning, and one more with each
 * further period (yt-dlp puts them one behind the other). A format of self-initializing segments has none.
 */
function mediaOf(fragments: readonly Fragment[]): readonly Media[] {
  const isTimed = fragments.some(({ seconds }) => seconds > 0);
  const media: Media[] = [];
  let init: MediaSection | undefined;
  let isAnew = false;
  for (const [index, fragment] of fragments.entries()) {
    const isInit = fragment.seconds === 0 && (isTimed || index === 0) && index < fragments.length - 1;
    if (isInit) init = { url: fragment.url };
    else media.push({ fragment, init, isAnew });
    isAnew = isInit && index > 0;
  }
  return media;
}

function firstSequence(media: readonly Media[], before: Timeline): number {
  const places = new Map(before.segments.map(({ content, sequence }) => [placeOf(content.url), sequence]));
  for (const [index, { fragment }] of media.entries()) {
    const sequence = places.get(placeOf(fragment.url));
    if (sequence !== undefined) return sequence - index;
  }
  return (before.segments.at(-1)?.sequence ?? -1) + 1;
}

/** What stays the same when a URL is signed anew. */
const placeOf = (url: string): string => URL.parse(url)?.pathname ?? url;
