import { type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import { withSpan } from '../../log/index.ts';
import { type Resource, type ResourceOrigin, resourceId } from '../../state/index.ts';
import { inspect } from '../probe/index.ts';
import { type Info, readTracks } from '../yt-dlp/index.ts';
import { assembleResource, epochSeconds } from './assemble.ts';
import type { CachedState } from './cached-state.ts';
import { mergeResource } from './merge-resource.ts';

/**
 * Builds the Resource of an item from yt-dlp's description: probes its files, merges it with the stored Resource, and
 * stores it.
 * @param identity the outgoing identity that it was extracted through: its URLs may be bound to that address
 * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable
 */
export type SaveItem = (info: Info, origin: ResourceOrigin, identity: string, deadline: Deadline) => Promise<Resource>;

export interface SaveItemOptions {
  readonly cache: CachedState;
  readonly egress: Pick<Egress, 'request'>;
}

export function createSaveItem({ cache, egress }: SaveItemOptions): SaveItem {
  return async (info, origin, identity, deadline) => {
    const signal = deadlineSignal(deadline);
    const [stored, candidates] = await Promise.all([
      cache.getResource(resourceId(origin)),
      withSpan('inspect tracks', () =>
        inspect(readTracks(info, epochSeconds()), {
          egress,
          identity,
          signal,
          client: deadline.client,
          link: origin.url,
        }),
      ),
    ]);
    const found = assembleResource(info, candidates, { origin, egress: identity, now: epochSeconds() });
    const resource = stored ? mergeResource(stored, found) : found;
    await cache.putResource(resource);
    return resource;
  };
}
