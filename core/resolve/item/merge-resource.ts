import { tagText } from '../../conversions/index.ts';
import type { Rendition, Resource, Track } from '../../state/index.ts';
import { promiseConversions } from './promise-conversions.ts';

/** Renditions at most that are kept though they are no longer offered: some sources name their formats anew each time. */
const MOST_WITHDRAWN = 50;
/** Seconds that two durations of the same media may differ by: sources round them. */
const TOLERANCE_SECONDS = 1;

/**
 * What a new resolve makes of a resource that still stands: it offers what was found now, and keeps what was given out
 * before. Keys that were offered stay good for as long as the source answers for them, and a conversion keeps its
 * duration, its tag and so its every byte, unless it is of other media now.
 */
export function mergeResource(standing: Resource, found: Resource): Resource {
  const withdrawn = withdrawnOf(standing, found.renditions);
  const needed = new Set(withdrawn.flatMap(({ formatIds }) => formatIds));
  const known = new Set(found.tracks.map(({ formatId }) => formatId));
  const kept = standing.tracks.filter(({ formatId }) => needed.has(formatId) && !known.has(formatId));
  return {
    ...found,
    ...(isSameMedia(standing, found) && promisesOf(standing, found)),
    tracks: [...found.tracks, ...kept.map(withoutFragments)],
    ...(withdrawn.length > 0 && { withdrawn }),
  };
}

/** What was offered and is not any more, but for what the source was found to have lost. */
function withdrawnOf({ renditions, withdrawn = [], tracks }: Resource, offered: readonly Rendition[]): Rendition[] {
  const ids = new Set(offered.map(({ id }) => id));
  const there = new Set(tracks.map(({ formatId }) => formatId));
  return [...renditions, ...withdrawn]
    .filter(({ id, formatIds }) => !ids.has(id) && formatIds.every((formatId) => there.has(formatId)))
    .slice(0, MOST_WITHDRAWN);
}

/** Long lists would be kept for keys that hardly anybody uses: whoever does has them looked up again. */
const withoutFragments = ({ fragments: _, ...track }: Track): Track => track;

/** As far as can be told: what has no duration yet promises nothing. */
const isSameMedia = (standing: Resource, found: Resource): boolean =>
  !found.isLive &&
  standing.durationSeconds !== undefined &&
  Math.abs(standing.durationSeconds - (found.durationSeconds ?? standing.durationSeconds)) <= TOLERANCE_SECONDS;

function promisesOf(standing: Resource, found: Resource): Partial<Resource> {
  const { durationSeconds } = standing;
  const tag = tagText(standing);
  return {
    tag,
    ...(durationSeconds !== undefined && { durationSeconds, ...promiseConversions(found, durationSeconds, tag) }),
  };
}
