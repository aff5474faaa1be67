import { type Cache, createCache } from '@reelay/concurrency';
import type { DashSegmentList } from '@reelay/seekable-media/dash';
import { UpstreamError } from '../errors/index.ts';
import { ItemTooLarge, type Link, type Resource, type State } from '../state/index.ts';

export type ResourceState = Pick<State, 'getLink' | 'getResource' | 'putLink' | 'putResource' | 'touchResource'>;

const CACHE_OPTIONS = { maxEntries: 256, maxAgeMs: 10_000 };
/** A resource takes some 20 kB of memory without the fragments of its DASH tracks, and up to 10 MB with them. */
const RESOURCE_BYTES = 20 * 1024;
const DURATION_BYTES = 8;
export const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** Bytes of memory, roughly. */
export const memoryOf = ({ tracks }: Resource): number =>
  tracks.reduce((bytes, { fragments }) => bytes + (fragments ? fragmentBytes(fragments) : 0), RESOURCE_BYTES);

const fragmentBytes = ({ urls, durations }: DashSegmentList): number => urls.length + durations.length * DURATION_BYTES;

/**
 * Links and resources of the state table behind a short-lived cache. `putResource` throws UpstreamError for a resource that is
 * too large for a table item. A link that is too large is not stored: the next request resolves it again.
 */
export function createCachedState(state: ResourceState): ResourceState {
  const links = createCache<string, Link>(CACHE_OPTIONS);
  const resources = createCache<string, Resource>({
    ...CACHE_OPTIONS,
    maxWeight: MAX_CACHED_BYTES,
    weightOf: memoryOf,
  });
  return {
    getLink: async (id) => links.get(id) ?? keep(links, await state.getLink(id)),
    getResource: async (id) => resources.get(id) ?? keep(resources, await state.getResource(id)),
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
const keep = <T extends Link | Resource>(cache: Cache<string, T>, record: T | undefined): T | undefined =>
  record && cache.set(record.id, record, record.expiresAt * 1000);
