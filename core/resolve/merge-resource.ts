import { tagText } from '../conversions/index.ts';
import type { Rendition, Resource, Track } from '../state/index.ts';
import { promiseConversions } from './renditions/index.ts';

/** Bounds the item in the table: some sources use new format ids in each response. */
const MAX_WITHDRAWN = 50;
/** Durations of the same media may differ by this: sources round them. */
const DURATION_TOLERANCE_SECONDS = 1;

/**
 * Merges the result of a new resolve into the stored resource: it offers the renditions found now, and keeps those offered
 * before as withdrawn, so that their keys stay valid. Conversions keep their duration, tag and chapters, and thereby every
 * byte, unless the media has changed.
 */
export function mergeResource(stored: Resource, found: Resource): Resource {
  const withdrawn = withdrawnOf(stored, found.renditions);
  const needed = new Set(withdrawn.flatMap(({ formatIds }) => formatIds));
  const known = new Set(found.tracks.map(({ formatId }) => formatId));
  const kept = stored.tracks.filter(({ formatId }) => needed.has(formatId) && !known.has(formatId));
  return {
    ...found,
    ...(isSameMedia(stored, found) && promisesOf(stored, found)),
    exactSizes: lastingSizes(stored, found),
    tracks: [...found.tracks, ...kept.map((track) => ({ egress: stored.egress, ...withoutFragments(track) }))],
    ...(withdrawn.length > 0 && { withdrawn }),
  };
}

/**
 * Sizes of renditions whose files have the same sizes as before; of files whose source tells none, the same URL, or the
 * duration of the media.
 */
function lastingSizes(stored: Resource, found: Resource): Resource['exactSizes'] {
  const trackOf = ({ tracks }: Resource, formatId: string) => tracks.find((track) => track.formatId === formatId);
  const isSameFile = (formatId: string) => {
    const [before, after] = [trackOf(stored, formatId), trackOf(found, formatId)];
    if (!before || !after || before.sizeBytes !== after.sizeBytes) return false;
    return before.sizeBytes !== undefined || before.url === after.url || isSameMedia(stored, found);
  };
  const lasting = Object.entries(stored.exactSizes ?? {}).filter(([id]) =>
    found.renditions.find((rendition) => rendition.id === id)?.formatIds.every(isSameFile),
  );
  return lasting.length > 0 ? Object.fromEntries(lasting) : undefined;
}

/** Renditions that are no longer offered, except those whose tracks a refresh has dropped. */
function withdrawnOf({ renditions, withdrawn = [], tracks }: Resource, offered: readonly Rendition[]): Rendition[] {
  const ids = new Set(offered.map(({ id }) => id));
  const available = new Set(tracks.map(({ formatId }) => formatId));
  return [...renditions, ...withdrawn]
    .filter(({ id, formatIds }) => !ids.has(id) && formatIds.every((formatId) => available.has(formatId)))
    .slice(0, MAX_WITHDRAWN);
}

/** Keys of withdrawn renditions are rarely used: a stream of one refreshes the resource to get its fragments. */
const withoutFragments = ({ fragments: _, ...track }: Track): Track => track;

/** By duration. A stored resource without one has promised nothing, and that of an incomplete one may be inexact. */
const isSameMedia = (stored: Resource, found: Resource): boolean =>
  !found.isLive &&
  !stored.isIncomplete &&
  stored.durationSeconds !== undefined &&
  Math.abs(stored.durationSeconds - (found.durationSeconds ?? stored.durationSeconds)) <= DURATION_TOLERANCE_SECONDS;

function promisesOf(stored: Resource, found: Resource): Partial<Resource> {
  const { durationSeconds } = stored;
  const tag = tagText(stored);
  const chapters = stored.details?.chapters;
  return {
    tag,
    ...(chapters && { details: { ...found.details, chapters } }),
    ...(durationSeconds !== undefined && { durationSeconds, ...promiseConversions(found, durationSeconds, tag) }),
  };
}
