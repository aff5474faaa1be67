import type { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import type { Layout, SourceIndex } from '../../../core/media/virtual-mp4/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { type Opening, toReadError } from '../representation.ts';
import type { LayoutCache } from './layout-caches.ts';
import { HEADER_RANGE, type KnownLayout, type LayoutRequest } from './read-layout.ts';

/** What is asked of one kind of layouts, and for which rendition and session. */
export interface Wanted<Request extends LayoutRequest, L extends Layout> {
  readonly found: KeyedRendition;
  readonly opening: Opening;
  readonly cache: LayoutCache<Request, L>;
  readonly request: Request;
}

/** The layout from the cache or the headers of its sources. @throws what opening and reading them throws */
export function loadLayout<Request extends LayoutRequest, L extends Layout>({
  found,
  cache,
  request,
  opening,
}: Wanted<Request, L>): Promise<KnownLayout<L> | UnsupportedMp4> {
  const { openSource, session } = opening;
  const { client, signal } = session;
  const openFile = (index: SourceIndex, shared: AbortSignal) =>
    openSource(found.resource, trackOf(found, index), { signal: shared, range: HEADER_RANGE });
  return cache.load(request, openFile, { client, signal }).catch((error) => {
    throw signal.aborted ? error : toReadError(error);
  });
}

export const trackOf = ({ tracks }: KeyedRendition, index: SourceIndex): Track => {
  const track = tracks[index];
  if (!track) throw new TypeError(`No track ${index}`);
  return track;
};
