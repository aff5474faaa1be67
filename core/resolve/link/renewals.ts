import { createHash } from 'node:crypto';
import { createCache } from '@reelay/concurrency';
import type { Resource } from '../../state/index.ts';
import { MAX_CACHED_BYTES, memoryOf } from './cached-state.ts';

/**
 * What refreshes in this process have found, by the version that it replaces. The table keeps the URLs of one outgoing
 * identity; those of the others stand beside it here, since an identity such as the address of a task is of use to its own
 * process alone.
 */
export interface Renewals {
  /** As `Resolver.latest`. */
  latest(resource: Resource): Resource;
  add(refused: Resource, renewed: Resource): void;
  /** Epoch milliseconds; 0: it was not refreshed here. */
  refreshedAtMs(resource: Resource): number;
}

const MAX_RENEWALS = 256;
/** Renewals of one resource that are followed, one after the other. */
const MAX_STEPS = 8;

export function createRenewals(): Renewals {
  const renewals = createCache<string, Resource>({
    maxEntries: MAX_RENEWALS,
    maxWeight: MAX_CACHED_BYTES,
    weightOf: memoryOf,
  });
  const refreshedAt = new WeakMap<Resource, number>();
  return {
    latest(resource) {
      let found = resource;
      for (let step = 0; step < MAX_STEPS; step++) {
        const renewed = renewals.get(versionOf(found));
        if (!renewed) break;
        found = renewed;
      }
      return found;
    },
    add(refused, renewed) {
      // A source that answers with the same URLs as before would refer to itself.
      renewals.delete(versionOf(renewed));
      if (versionOf(refused) !== versionOf(renewed)) renewals.set(versionOf(refused), renewed);
      refreshedAt.set(renewed, Date.now());
    },
    refreshedAtMs: (resource) => refreshedAt.get(resource) ?? 0,
  };
}

/** A digest of what is stored of a resource's URLs, and of the identity that they belong to. */
function versionOf({ id, egress, tracks }: Resource): string {
  const hash = createHash('sha256').update(id).update(egress);
  for (const { formatId, url } of tracks) hash.update('\n').update(formatId).update('\n').update(url);
  return hash.digest('base64url');
}
