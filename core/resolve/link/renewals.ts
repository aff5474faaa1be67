import { createHash } from 'node:crypto';
import { createLruCache } from '../../concurrency/index.ts';
import type { Resource } from '../../state/index.ts';
import { MAX_CACHED_BYTES, memoryOf } from './cached-state.ts';

/**
 * What refreshes in this process have found in place of URLs that a source refuses. The table keeps the URLs of one outgoing
 * identity; those of the others stand beside it here, since an identity such as the address of a task is of use to its own
 * process alone.
 */
export interface Renewals {
  /** The resource with the URLs that replace its own; the same resource if none do. */
  latest(resource: Resource): Resource;
  add(refused: Resource, renewed: Resource): void;
}

const MAX_RENEWALS = 256;
/** Of one resource, one after the other. */
const MAX_STEPS = 8;

export function createRenewals(): Renewals {
  const renewals = createLruCache<string, Resource>(MAX_RENEWALS, { maxWeight: MAX_CACHED_BYTES, weightOf: memoryOf });
  return {
    latest(resource) {
      let latest = resource;
      for (let step = 0; step < MAX_STEPS; step++) {
        const renewed = renewals.get(versionOf(latest));
        if (!renewed) break;
        latest = renewed;
      }
      return latest;
    },
    add(refused, renewed) {
      // A source that answers with the same URLs as before would refer to itself.
      renewals.delete(versionOf(renewed));
      if (versionOf(refused) !== versionOf(renewed)) renewals.set(versionOf(refused), renewed);
    },
  };
}

/** Whether a URL of the resource is past its stated expiry. */
export const hasExpired = ({ tracks }: Resource): boolean =>
  tracks.some(({ urlExpiresAt }) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= Date.now());

/** A digest of what is stored of a resource's URLs, and of the identity that they belong to. */
function versionOf({ id, egress, tracks }: Resource): string {
  const hash = createHash('sha256').update(id).update(egress);
  for (const { formatId, url } of tracks) hash.update('\n').update(formatId).update('\n').update(url);
  return hash.digest('base64url');
}
