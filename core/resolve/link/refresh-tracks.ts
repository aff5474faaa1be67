import { NotFound } from '../../errors/index.ts';
import type { Resource, ResourceOrigin } from '../../state/index.ts';
import { readEntries } from '../playlists/index.ts';
import { type Info, isList, readSubtitleTracks, readTracks } from '../yt-dlp/index.ts';
import { freshUntil, isLive, RETENTION_SECONDS } from './assemble-resource.ts';
import type { AddressedExtraction } from './outgoing-addresses.ts';

/**
 * A stored resource with new URLs for its tracks. Everything its streams promise stays; tracks that the source no longer has
 * are dropped, unless the extraction is incomplete.
 * @param extraction the item's, with the outgoing identity to which the new URLs may be bound
 * @param now epoch seconds
 * @throws NotFound when none of its formats is left
 */
export function refreshTracks(
  resource: Resource,
  { info, isIncomplete, identity }: AddressedExtraction,
  now: number,
): Resource {
  const all = [...readTracks(info, now), ...readSubtitleTracks(info, now)];
  const found = new Map(all.map(({ track }) => [track.formatId, track]));
  const tracks = resource.tracks.flatMap((known) => {
    const track = found.get(known.formatId);
    if (!track) return isIncomplete ? [{ egress: resource.egress, ...known }] : [];
    // Removed even when the new track has none: they belong to the old URL.
    const {
      fragments: _fragments,
      fragmentBaseUrl: _fragmentBaseUrl,
      chunkBytes: _chunkBytes,
      urlExpiresAt: _urlExpiresAt,
      availableAt: _availableAt,
      overrides: _overrides,
      ...lasting
    } = known;
    const { url, headers, cookies, fragments, fragmentBaseUrl, chunkBytes, urlExpiresAt, availableAt, overrides } =
      track;
    return [
      {
        ...lasting,
        url,
        egress: identity,
        headers,
        cookies,
        ...(fragments && { fragments, fragmentBaseUrl }),
        ...(chunkBytes && { chunkBytes }),
        ...(urlExpiresAt && { urlExpiresAt }),
        ...(availableAt && { availableAt }),
        ...(overrides && { overrides }),
      },
    ];
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

/** The item of a response that is the resource: the one with the same extractor and id, or the only one. */
export function findItem(info: Info, { url, ...wanted }: ResourceOrigin): Info | undefined {
  if (!isList(info)) return info;
  const items = readEntries(info, url).filter(({ isResolved }) => isResolved);
  const same = items.find(
    ({ identity }) => identity.extractor === wanted.extractor && identity.entryId === wanted.entryId,
  );
  return (same ?? (items.length === 1 ? items[0] : undefined))?.info;
}
