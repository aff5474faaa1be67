import { type Cache, createCache } from '@reelay/concurrency';
import type { FragmentList } from '@reelay/seekable-media/dash';
import { UpstreamError } from '../errors/index.ts';
import { ItemTooLarge, type Link, linkId, type Resource, type State } from '../state/index.ts';

export type ResourceState = Pick<State, 'getLink' | 'getResource' | 'putLink' | 'putResource' | 'touchResource'>;

/** Links and resources of the state table behind a short-lived cache. Every method may throw StateUnavailable. */
export interface CachedState {
  /** @param key the link, or the key under which an entry of a list is stored */
  getLink(key: string): Promise<Link | undefined>;
  getResource(id: string): Promise<Resource | undefined>;
  /** @throws UpstreamError when the resource is too large for a table item */
  putResource(resource: Resource): Promise<void>;
  /** A list too large for a table item is not stored: the next request resolves it again. */
  putLink(link: Link): Promise<void>;
  /** Extends the retention of a resource that was answered from the table. */
  touchResource(resource: Resource): Promise<void>;
}

const CACHE_OPTIONS = { maxEntries: 256, maxAgeMs: 10_000 };
/** A resource takes some 20 kB of memory without the fragments of its DASH tracks, and up to 10 MB with them. */
const RESOURCE_BYTES = 20 * 1024;
const DURATION_BYTES = 8;
export const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Bytes of memory, roughly. */
export const memoryOf = ({ tracks }: Resource): number =>
  tracks.reduce((bytes, { fragments }) => bytes + (fragments ? fragmentBytes(fragments) : 0), RESOURCE_BYTES);

const fragmentBytes = ({ urls, durations }: FragmentList): number => urls.length + durations.length * DURATION_BYTES;

export function createCachedState(state: ResourceState): CachedState {
  const links = createCache<string, Link>(CACHE_OPTIONS);
  const resources = createCache<string, Resource>({
    ...CACHE_OPTIONS,
    maxWeight: MAX_CACHED_BYTES,
    weightOf: memoryOf,
  });
  return {
    async getLink(key) {
      const id = linkId(key);
      const cached = links.get(id);
      if (cached) return cached;
      const link = await state.getLink(id);
      return link && keep(links, link);
    },
    async getResource(id) {
      const cached = resources.get(id);
      if (cached) return cached;
      const resource = await state.getResource(id);
      return resource && keep(resources, resource);
    },
    async putResource(resource) {
      await state.putResource(resource).catch((cause) => {
        throw cause instanceof ItemTooLarge
          ? new UpstreamError('The resource is too large to store', { cause, reason: 'service-failed' })
          : cause;
      });
      keep(resources, resource);
    },
    async putLink(link) {
      await state.putLink(link).catch((error) => {
        if (!(error instanceof ItemTooLarge)) throw error;
      });
      keep(links, link);
    },
    touchResource: (resource) => state.touchResource(resource),
  };
}

/** Keeps a record of the table, at most until it expires there. */
const keep = <T extends Link | Resource>(cache: Cache<string, T>, record: T): T =>
  cache.set(record.id, record, record.expiresAt * 1000);
