import type { WindowParameters } from '../../../core/api/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../../core/state/index.ts';
import type { PlannedOutput, RepresentationHead } from '../representation.ts';

/** A part of what the source of a live stream holds. By its numbers it is sent; by times, its numbers are looked up first. */
export interface WindowPlan<Query = unknown> extends PlannedOutput {
  readonly kind: 'window';
  readonly found: KeyedRendition;
  readonly window: WindowParameters;
  /** It has no end, and nothing else is asked of it: it may be a file that grows. */
  readonly isOpen: boolean;
  /** What is asked of it besides. */
  readonly query: Query;
}

/** @param head of the query from now on */
export function planWindow<Query>(
  { found, window, query, isOpen }: Pick<WindowPlan<Query>, 'found' | 'window' | 'query' | 'isOpen'>,
  { mimeType, fileExtension }: RepresentationHead,
): WindowPlan<Query> {
  const head = { mimeType, fileExtension, size: undefined, acceptRanges: undefined };
  return { kind: 'window', found, window, query, isOpen, head, answersHead: false };
}

/** The rendition from a segment on. @param first by default the oldest that its source holds */
export function followFrom(found: KeyedRendition, first = Number.NEGATIVE_INFINITY): KeyedRendition {
  const window = { resource: found.resource, first, last: Number.POSITIVE_INFINITY };
  return { ...found, tracks: mapTracks(found, (track) => ({ ...track, window })) };
}

export const mapTracks = (
  { tracks: [first, ...rest] }: KeyedRendition,
  change: (track: Track, index: number) => Track,
): KeyedRendition['tracks'] => [change(first, 0), ...rest.map((track, index) => change(track, index + 1))];

/** @throws InvalidParameter for what has no windows */
export function requireLive({ resource, tracks }: KeyedRendition): void {
  if (!resource.isLive)
    throw new InvalidParameter('start before now or at a time of day, from and segments apply to live streams only.');
  if (tracks.some((track) => capabilitiesOf(track).isFile))
    throw new InvalidParameter('Only live streams of HLS and DASH can be read from an earlier time.');
}
