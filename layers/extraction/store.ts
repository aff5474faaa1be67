import { problems } from '../contract/index.ts';
import { type Link, linkId, type Resource, type State } from '../state/index.ts';

/** The part of the table that resolving needs. A table that does not answer is a failed fetch, whatever it threw. */
export interface Store {
  link(url: string): Promise<Link | undefined>;
  resource(id: string): Promise<Resource | undefined>;
  keep(resource: Resource): Promise<void>;
  keepLink(link: Link): Promise<void>;
  /** Keeps what was answered from the table for another day. */
  touch(resource: Resource): Promise<void>;
}

export type StoreState = Pick<State, 'getLink' | 'getResource' | 'putLink' | 'putResource' | 'touchResource'>;

/** @throws Problem 502, from each of its calls */
export function createStore(state: StoreState): Store {
  const orFetchFailed = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (cause) {
      throw problems.fetchFailed(cause);
    }
  };
  return {
    link: (url) => orFetchFailed(() => state.getLink(linkId(url))),
    resource: (id) => orFetchFailed(() => state.getResource(id)),
    keep: (resource) => orFetchFailed(() => state.putResource(resource)),
    keepLink: (link) => orFetchFailed(() => state.putLink(link)),
    touch: (resource) => orFetchFailed(() => state.touchResource(resource)),
  };
}
