import type { WindowSelection } from '../../../core/api/index.ts';
import { InvalidParameter } from '../../../core/errors/index.ts';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../../core/state/index.ts';
import type { PlannedOutput, RenditionQuery, RepresentationHead } from '../representation.ts';

/** A part of what the source of a live stream holds. By its numbers it is sent; by times, its numbers are looked up first. */
export interface WindowPlan extends PlannedOutput {
  readonly kind: 'window';
  readonly found: KeyedRendition;
  readonly window: WindowSelection;
  /** What is asked of it besides. */
  readonly query: RenditionQuery;
}

/** @param head of the query from now on */
export function planWindow(
  { found, window, query }: Pick<WindowPlan, 'found' | 'window' | 'query'>,
  { mimeType, fileExtension }: RepresentationHead,
): WindowPlan {
  const head = { mimeType, fileExtension, size: undefined, acceptRanges: undefined };
  return { kind: 'window', found, window, query, head, answersHead: false };
}

export const mapTracks = (
  { tracks: [first, ...rest] }: KeyedRendition,
  change: (track: Track, index: number) => Track,
): KeyedRendition['tracks'] => [change(first, 0), ...rest.map((track, index) => change(track, index + 1))];

/** @throws InvalidParameter for what has no windows */
export function requireLive({ resource, tracks }: KeyedRendition): void {
  if (!resource.isLive || tracks.some((track) => capabilitiesOf(track).isFile))
    throw new InvalidParameter('start before now or at a time of day, and segments, apply to live HLS and DASH only.');
}
