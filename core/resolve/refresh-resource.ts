import { createHash } from 'node:crypto';
import { createCache, createSingleFlight } from '@reelay/concurrency';
import { withoutAbsent } from '@reelay/seekable-media/values';
import type { Egress } from '../egress/index.ts';
import { NotFound, StorageFull } from '../errors/index.ts';
import type { Resource, ResourceOrigin, Track } from '../state/index.ts';
import { MAX_CACHED_BYTES, memoryOf, type ResourceState } from './cached-state.ts';
import type { Extraction, ExtractLink } from './extraction-pool.ts';
import { readEntries } from './playlist.ts';
import { epochSeconds, freshUntil, isLive, RETENTION_SECONDS } from './save-item.ts';
import { type Info, isList, readSubtitleTracks, readTracks } from './yt-dlp/index.ts';

interface RefresherOptions {
  readonly cache: ResourceState;
  readonly extract: ExtractLink;
  readonly egress: Pick<Egress, 'otherIdentity'>;
}

/** Finds new URLs for resources whose URLs a source refuses. */
export interface Refresher {
  /**
   * Resolves a stored resource again, through the same outgoing identity unless its site blocks that, and stores its new
   * URLs unless the table has valid ones of another identity: these are kept beside them in memory. At most one refresh per
   * resource and identity at a time. The id and everything promised about its streams stay.
   * @param client whose share of yt-dlp is used: that of the first caller. @default the service itself
   * @throws NotFound when the item or all of its formats are gone, else as `LinkResolver.resolve`
   */
  refresh(resource: Resource, signal?: AbortSignal, client?: string): Promise<Resource>;
  /** A resource with the URLs that refreshes in this process have found in place of its own; the same resource if none has. */
  latest(resource: Resource): Resource;
}

/** A stream that is in progress waits for the refresh. */
export const REFRESH_TIMEOUT_MS = 25_000;
const REFUSED_WITHIN_MS = 30_000;
export function createRefresher({ cache, extract, egress }: RefresherOptions): Refresher {
  const flights = createSingleFlight<Resource>();
  const renewals = createRenewals();

  /** True if it was refreshed so recently that the site must have refused the new URLs. */
  const areUrlsRefused = (resource: Resource): boolean =>
    !resource.isLive && !hasExpired(resource) && Date.now() - renewals.refreshedAtMs(resource) < REFUSED_WITHIN_MS;

  const refresh = async (resource: Resource, signal: AbortSignal, client?: string): Promise<Resource> => {
    // Other streams have met the same refusal.
    const known = renewals.latest(resource);
    if (known !== resource && !hasExpired(known)) return known;
    const { origin } = resource;
    // The site may refuse the address.
    const preferred = areUrlsRefused(known) ? egress.otherIdentity(origin.url, new Set([known.egress])) : known.egress;
    const deadline = Date.now() + REFRESH_TIMEOUT_MS;
    const extraction = await extract({ url: origin.url, offset: origin.offset, preferred, deadline, signal, client });
    const item = findItem(extraction.info, origin);
    if (!item) throw new NotFound('The page no longer contains the item', { reason: 'gone' });
    const refreshed = withNewUrls(resource, { ...extraction, info: item }, epochSeconds());
    renewals.add(known, refreshed);
    await store(refreshed);
    return refreshed;
  };

  /** Stores a refreshed resource, unless the table has URLs of another address that may still be valid there. */
  const store = async (refreshed: Resource): Promise<void> => {
    const stored = await cache.getResource(refreshed.id);
    if (stored && stored.egress !== refreshed.egress && !hasExpired(stored)) return;
    await cache.putResource(refreshed).catch((error) => {
      // A full disk does not end a stream: the next one refreshes again.
      if (!(error instanceof StorageFull)) throw error;
    });
  };

  return {
    latest: renewals.latest,
    refresh: (resource, signal, client) =>
      flights(`${resource.id} ${resource.egress}`, (shared) => refresh(resource, shared, client), signal),
  };
}

/**
 * Returns a stored resource with new URLs for its tracks. Everything its streams promise stays; tracks that the source no
 * longer has are dropped, unless the extraction is incomplete.
 * @param extraction the item's, with the outgoing identity to which the new URLs may be bound
 * @param now epoch seconds
 */
function withNewUrls(resource: Resource, { info, isIncomplete, identity }: Extraction, now: number): Resource {
  const all = [...readTracks(info, now), ...readSubtitleTracks(info, now)];
  const found = new Map(all.map(({ track }) => [track.formatId, track]));
  const tracks = resource.tracks.flatMap((known): Track[] => {
    const track = found.get(known.formatId);
    if (!track) return isIncomplete ? [{ egress: resource.egress, ...known }] : [];
    const { url, headers, cookies, fragments, fragmentBaseUrl, chunkBytes, urlExpiresAt, availableAt, overrides } =
      track;
    // Drops fields that the new track lacks: they describe the old URL.
    const renewed = { fragments, fragmentBaseUrl, chunkBytes, urlExpiresAt, availableAt, overrides };
    return [withoutAbsent<Track>({ ...known, url, egress: identity, headers, cookies, ...renewed })];
  });
  if (tracks.length === 0) throw new NotFound('No format of the item is left', { reason: 'gone' });
  return {
    ...resource,
    tracks,
    egress: identity,
    freshUntil: freshUntil(tracks, isLive(info) || isIncomplete || resource.isIncomplete === true, now),
    expiresAt: now + RETENTION_SECONDS,
  };
}

/** Finds the item of a response that is the resource: the one with the same extractor and id, or the only one. */
function findItem(info: Info, { url, ...wanted }: ResourceOrigin): Info | undefined {
  if (!isList(info)) return info;
  const items = readEntries(info, url, wanted.offset).filter(({ isResolved }) => isResolved);
  const same = items.find(
    ({ identity }) => identity.extractor === wanted.extractor && identity.entryId === wanted.entryId,
  );
  return (same ?? (items.length === 1 ? items[0] : undefined))?.info;
}

/** Whether a URL of the resource is past its stated expiry. */
const hasExpired = ({ tracks }: Resource): boolean =>
  tracks.some(({ urlExpiresAt }) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= Date.now());

/**
 * Resources refreshed by this process, by the version that they replace. The table keeps the URLs of one outgoing
 * identity; those of the others stand beside it here, since an identity such as the address of a task is of use to its own
 * process alone.
 */
interface Renewals {
  /** As `Resolver.latest`. */
  latest(resource: Resource): Resource;
  add(refused: Resource, renewed: Resource): void;
  /** Epoch milliseconds; 0: it was not refreshed here. */
  refreshedAtMs(resource: Resource): number;
}

const MAX_RENEWALS = 256;
/** Renewals of one resource that are followed, one after the other. */
const MAX_STEPS = 8;

function createRenewals(): Renewals {
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
