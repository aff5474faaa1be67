import { problems } from '../../core/api/index.ts';
import type { Log } from '../../core/log/index.ts';
import { findByKey, type KeyedRendition, type Rendition, type Resource, type State } from '../../core/state/index.ts';

/** What stands behind a key. */
export type FoundRendition = KeyedRendition;

/** @throws Problem 404 when no such rendition of that type stands behind the key, 502 when the table does not answer */
export type FindRendition = (key: string, urlType: Rendition['urlType']) => Promise<FoundRendition>;

export interface FindRenditionDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly log: Log;
}

/** Looks keys up in the table, and keeps what is asked for there for longer. */
export function createFindRendition({ state, log }: FindRenditionDependencies): FindRendition {
  const underWay = new Map<string, Promise<Resource | undefined>>();

  /** Whoever asks for the same resource at the same time shares one read: a rush of clients must not flood the table. */
  const getResource = async (id: string) => {
    const reading = underWay.get(id) ?? state.getResource(id).finally(() => underWay.delete(id));
    underWay.set(id, reading);
    try {
      return await reading;
    } catch (error) {
      throw problems.fetchFailed(error);
    }
  };

  return async (key, urlType) => {
    const found = await findByKey(key, urlType, getResource);
    if (!found) throw problems.notFound();
    const { resource } = found;
    state
      .touchResource(resource)
      .catch((error) => log.warn('A resource in use could not be kept', { resource: resource.id, error }));
    return found;
  };
}
