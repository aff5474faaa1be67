import { type Deadline, deadlineSignal, ownTurn } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import { describeError, type Log, withSpan } from '../../log/index.ts';
import { type Resource, type ResourceOrigin, resourceId } from '../../state/index.ts';
import { inspectTracks } from '../probe/index.ts';
import { readTracks } from '../yt-dlp/index.ts';
import { assembleResource, epochSeconds } from './assemble-resource.ts';
import type { CachedState } from './cached-state.ts';
import { mergeResource } from './merge-resource.ts';
import type { AddressedExtraction } from './outgoing-addresses.ts';

export interface SaveOptions {
  readonly cache: CachedState;
  readonly egress: Pick<Egress, 'request'>;
  readonly log: Log;
}

/**
 * Builds the Resource of an item: probes its files, merges it with the stored Resource, and stores it.
 * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable
 */
export async function saveItem(
  { info, identity, ...extraction }: AddressedExtraction,
  origin: ResourceOrigin,
  deadline: Deadline,
  { cache, egress, log }: SaveOptions,
): Promise<Resource> {
  // Entries of a list are saved at once: each takes some milliseconds.
  await ownTurn();
  const probing = { ...deadline, egress, identity, signal: deadlineSignal(deadline), link: origin.url };
  const [stored, { result: selection, failure }] = await Promise.all([
    cache.getResource(resourceId(origin)),
    withSpan('inspect tracks', () => inspectTracks(readTracks(info, epochSeconds()), probing)),
  ]);
  const isIncomplete = extraction.isIncomplete || failure !== undefined;
  if (isIncomplete)
    log.info('Formats could not be read', {
      url: origin.url,
      error: describeError(failure ?? 'A request of yt-dlp timed out'),
    });
  const found = assembleResource(info, selection, { origin, egress: identity, now: epochSeconds(), isIncomplete });
  const resource = stored ? mergeResource(stored, found) : found;
  await cache.putResource(resource);
  return resource;
}
