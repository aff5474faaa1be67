import { createSingleFlight } from '../../core/concurrency/index.ts';
import { NotFound } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import { findByKey, type KeyedRendition, type Resource, type State } from '../../core/state/index.ts';

/** @throws NotFound when no rendition has the key, StateUnavailable */
export type FindRendition = (key: string) => Promise<KeyedRendition>;

export interface FindRenditionDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly log: Log;
}

/** Looks keys up in the state table, and extends the expiry of the resources that are used. */
export function createFindRendition({ state, log }: FindRenditionDependencies): FindRendition {
  // Concurrent requests for one resource share a read, so that a rush of clients does not flood the table.
  const reads = createSingleFlight<Resource | undefined>();

  return async (key) => {
    const found = await findByKey(key, (id) => reads(id, () => state.getResource(id)));
    if (!found) throw new NotFound('No rendition has the key');
    const { resource } = found;
    state
      .touchResource(resource)
      .catch((error) => log.warn('Extending the expiry of a resource failed', { resource: resource.id, error }));
    return found;
  };
}
