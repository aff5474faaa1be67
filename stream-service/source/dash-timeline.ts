import type { Fragment } from '../../layers/state/index.ts';
import type { Segment, Timeline } from './timeline.ts';

/**
 * The timeline of DASH fragments. A live list slides: what both lists name is the same segment.
 * @param before the list known so far
 */
export function dashTimeline(fragments: readonly Fragment[], isLive: boolean, before?: Timeline): Timeline {
  const [init, media] = splitInit(fragments);
  const first = isLive && before ? firstSequence(media, before) : 0;
  const segments = media.map(
    ({ url, seconds }, index): Segment => ({
      sequence: first + index,
      seconds,
      content: { url },
      ...(init && { init: { url: init.url } }),
    }),
  );
  const reloadSeconds = segments.at(-1)?.seconds ?? 0;
  return { segments, isComplete: !isLive, reloadSeconds: reloadSeconds || 6 };
}

/** The initialization segment comes first and lasts 0 seconds; a format of self-initializing segments has none. */
function splitInit(fragments: readonly Fragment[]): [Fragment | undefined, readonly Fragment[]] {
  const [first, ...rest] = fragments;
  return first && first.seconds === 0 && rest.length > 0 ? [first, rest] : [undefined, fragments];
}

function firstSequence(media: readonly Fragment[], before: Timeline): number {
  const places = new Map(before.segments.map(({ content, sequence }) => [placeOf(content.url), sequence]));
  for (const [index, { url }] of media.entries()) {
    const sequence = places.get(placeOf(url));
    if (sequence !== undefined) return sequence - index;
  }
  return (before.segments.at(-1)?.sequence ?? -1) + 1;
}

/** What stays the same when a URL is signed anew. */
const placeOf = (url: string): string => URL.parse(url)?.pathname ?? url;
