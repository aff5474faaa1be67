import { problems } from '../../api/index.ts';
import { createTtlCache } from '../../concurrency/index.ts';
import { ItemTooLarge, type Link, linkId, type Resource, type State } from '../../state/index.ts';

/** The part of the table that resolving needs. A table that does not answer is a failed fetch, whatever it threw. */
export interface CachedState {
  link(url: string): Promise<Link | undefined>;
  resource(id: string): Promise<Resource | undefined>;
  keep(resource: Resource): Promise<void>;
  keepLink(link: Link): Promise<void>;
  /** Keeps what was answered from the table for another day. */
  touch(resource: Resource): Promise<void>;
}

export type StoreState = Pick<State, 'getLink' | 'getResource' | 'putLink' | 'putResource' | 'touchResource'>;

/** Some 20 kB each, and a link that many ask for is asked for often. */
const RECENT = { maxEntries: 256, maxAgeMs: 10_000 };

/** @throws Problem 502, from each of its calls */
export function createCachedState(state: StoreState): CachedState {
  const links = createTtlCache<Link>(RECENT);
  const resources = createTtlCache<Resource>(RECENT);
  const orFetchFailed = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (cause) {
      throw problems.fetchFailed(cause);
    }
  };
  return {
    async link(url) {
      const id = linkId(url);
      const known = links.get(id);
      if (known) return known;
      const link = await orFetchFailed(() => state.getLink(id));
      return link && links.set(link);
    },
    async resource(id) {
      const known = resources.get(id);
      if (known) return known;
      const resource = await orFetchFailed(() => state.getResource(id));
      return resource && resources.set(resource);
    },
    async keep(resource) {
      await orFetchFailed(() => state.putResource(resource));
      resources.set(resource);
    },
    async keepLink(link) {
      await orFetchFailed(() => state.putLink(link).catch(unlessTooLarge));
      links.set(link);
    },
    touch: (resource) => orFetchFailed(() => state.touchResource(resource)),
  };
}

/** A list that the table cannot take is answered all the same, and read anew by whoever asks next. */
function unlessTooLarge(error: unknown): void {
  if (!(error instanceof ItemTooLarge)) throw error;
}
