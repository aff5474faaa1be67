import { type Segment, selectWindow, type WindowPlace, type WindowTimes } from '@reelay/seekable-media/timeline';
import { MAX_WINDOW_SEGMENTS } from '../../../core/api/index.ts';
import { tagText } from '../../../core/conversions/index.ts';
import { InvalidParameter, NotFound } from '../../../core/errors/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { SourceOpeners, WindowFacts } from '../../source/index.ts';
import { type Opening, type Representation, unread } from '../representation.ts';
import { mapTracks, type WindowPlan } from './plan.ts';

export type WindowDependencies = Pick<SourceOpeners, 'inspectWindow' | 'listSegments'>;

/**
 * Looks up which segments a window by times has, or what is known of a window by numbers.
 * @returns a redirect to the window by numbers; that window as a recording
 * @throws InvalidParameter, NotFound when the source does not hold it
 */
export async function openWindow(
  { found, window, head }: WindowPlan,
  { session }: Opening,
  { listSegments, inspectWindow }: WindowDependencies,
): Promise<Representation | KeyedRendition> {
  const { resource, tracks } = found;
  const options = { signal: session.signal, client: session.client };
  if (window.kind === 'segments') {
    const place = { first: window.first, last: window.last };
    const windowed = tracks.map((track) => ({ ...track, window: { resource, ...place } }));
    const facts = await Promise.all(windowed.map((track) => inspectWindow(resource, track, options)));
    return toRecording(found, place, facts);
  }
  const lists = await Promise.all(tracks.map((track: Track) => listSegments(resource, track, options)));
  const place = findPlace(
    lists.map(({ segments }) => segments),
    window,
  );
  if (place.last - place.first >= MAX_WINDOW_SEGMENTS)
    throw new InvalidParameter(`A window has at most ${MAX_WINDOW_SEGMENTS} segments.`);
  return { ...head, segments: `${place.first}-${place.last}`, read: unread };
}

/** The segments that all lists hold of a window, by the first of them. */
function findPlace([list = [], ...others]: readonly (readonly Segment[])[], window: WindowTimes): WindowPlace {
  const newest = Math.min(...[list, ...others].map((each) => each.at(-1)?.sequence ?? 0));
  const held = list.filter(({ sequence }) => sequence <= newest);
  const selected = selectWindow(held, window);
  if (selected === 'untimed')
    throw new InvalidParameter('The live stream states no times of day: use seconds before now, such as start=-300.');
  if (selected === 'early') throw new NotFound('The source no longer holds the window', { reason: 'gone' });
  if (selected === 'empty') throw new InvalidParameter('The window has no media, or none yet.');
  const oldest = Math.max(...others.map((each) => each[0]?.sequence ?? 0), selected.first);
  if (oldest > selected.last)
    throw new InvalidParameter('The segments of video and audio have different numbers: select one of them alone.');
  return { first: oldest, last: selected.last };
}

/** The window as an item that is not live, so that it is sent as any recording is. */
function toRecording(
  found: KeyedRendition,
  { first, last }: WindowPlace,
  facts: readonly WindowFacts[],
): KeyedRendition {
  const { key, resource } = found;
  const [{ durationSeconds = 0, recordedAtMs } = {}] = facts;
  const window = { resource, first, last, recordedAtMs };
  const tag = recordedAtMs !== undefined && {
    tag: { ...tagText(resource), date: new Date(recordedAtMs).toISOString() },
  };
  return {
    ...found,
    key: `${key} ${first}-${last}`,
    resource: { ...resource, isLive: false, durationSeconds, ...tag },
    tracks: mapTracks(found, (track, index) => ({
      ...track,
      window,
      durationSeconds: facts[index]?.durationSeconds,
      sizeIsExact: false,
      sizeBytes: undefined,
    })),
  };
}
