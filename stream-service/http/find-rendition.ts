import { createSingleFlight } from '../../core/concurrency/index.ts';
import { NotFound } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import { findByKey, type KeyedRendition, type Rendition, type Resource, type State } from '../../core/state/index.ts';

/** @throws NotFound when the key has no rendition of that type, StateUnavailable */
export type FindRendition = (key: string, urlType: Rendition['urlType']) => Promise<KeyedRendition>;

export interface FindRenditionDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly log: Log;
}

/** Looks keys up in the state table, and extends the expiry of the resources that are used. */
export function createFindRendition({ state, log }: FindRenditionDependencies): FindRendition {
  // Concurrent requests for one resource share a read, so that a rush of clients does not flood the table.
  const reads = createSingleFlight<Resource | undefined>();

  return async (key, urlType) => {
    const found = await findByKey(key, urlType, (id) => reads(id, () => state.getResource(id)));
    if (!found) throw new NotFound('The key has no rendition of this type');
    const { resource } = found;
    state
      .touchResource(resource)
      .catch((error) => log.warn('Extending the expiry of a resource failed', { resource: resource.id, error }));
    return found;
  };
}
