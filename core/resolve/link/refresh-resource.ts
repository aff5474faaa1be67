import { createSingleFlight } from '@reelay/concurrency';
import { withoutAbsent } from '@reelay/seekable-media/values';
import type { Egress } from '../../egress/index.ts';
import { NotFound, StorageFull } from '../../errors/index.ts';
import type { Resource, ResourceOrigin, Track } from '../../state/index.ts';
import { readEntries } from '../playlists/index.ts';
import { type Extraction, type Info, isList, readSubtitleTracks, readTracks } from '../yt-dlp/index.ts';
import { epochSeconds, freshUntil, isLive, RETENTION_SECONDS } from './assemble-resource.ts';
import type { CachedState } from './cached-state.ts';
import type { Extract } from './extract.ts';
import { createRenewals } from './renewals.ts';

interface RefresherOptions {
  readonly cache: CachedState;
  readonly extract: Extract;
  readonly egress: Pick<Egress, 'otherIdentity'>;
}

/** Finds new URLs for resources whose URLs a source refuses. */
interface Refresher {
  /** As `Resolver.refresh`. */
  refresh(resource: Resource, signal?: AbortSignal, client?: string): Promise<Resource>;
  /** As `Resolver.latest`. */
  latest(resource: Resource): Resource;
}

/** A stream that is in progress waits for the refresh. */
export const REFRESH_TIMEOUT_MS = 25_000;
const REFUSED_WITHIN_MS = 30_000;
export function createRefresher({ cache, extract, egress }: RefresherOptions): Refresher {
  const flights = createSingleFlight<Resource>();
  const renewals = createRenewals();

  /** Whether a resource must be refreshed again so soon that its site cannot have accepted its URLs. */
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
    const extraction = await extract({ url: origin.url, preferred, deadline, signal, client });
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
    // What the new track lacks is removed: it belongs to the old URL.
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
  const items = readEntries(info, url).filter(({ isResolved }) => isResolved);
  const same = items.find(
    ({ identity }) => identity.extractor === wanted.extractor && identity.entryId === wanted.entryId,
  );
  return (same ?? (items.length === 1 ? items[0] : undefined))?.info;
}

/** Whether a URL of the resource is past its stated expiry. */
const hasExpired = ({ tracks }: Resource): boolean =>
  tracks.some(({ urlExpiresAt }) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= Date.now());
