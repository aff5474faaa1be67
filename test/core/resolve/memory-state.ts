import type { ResolverOptions } from '../../../core/resolve/create-resolver.ts';
import type { Link, Resource } from '../../../core/state/resource.ts';

/** The state of a resolver in memory, and what it contains, by id. */
export function createMemoryState() {
  const links = new Map<string, Link>();
  const resources = new Map<string, Resource>();
  /** Ids of the resources whose expiry was extended. */
  const touched: string[] = [];
  const state: ResolverOptions['state'] = {
    getLink: async (id) => links.get(id),
    putLink: async (link) => void links.set(link.id, link),
    getResource: async (id) => resources.get(id),
    putResource: async (resource) => void resources.set(resource.id, resource),
    touchResource: async ({ id }) => void touched.push(id),
  };
  return { links, resources, touched, state };
}
