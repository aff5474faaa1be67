import { type Deadline, deadlineSignal, ownTurn } from '@reelay/concurrency';
import { tagText } from '../conversions/index.ts';
import type { Egress } from '../egress/index.ts';
import { NotDeliverable, NotFound } from '../errors/index.ts';
import { describeError, type Log } from '../log/index.ts';
import { capabilitiesOf, type Resource, type ResourceOrigin, resourceId, type Track } from '../state/index.ts';
import type { ResourceState } from './cached-state.ts';
import type { Extraction } from './extraction-pool.ts';
import { mergeResource } from './merge-resource.ts';
import { inspectTracks } from './probe/index.ts';
import { promiseConversions, type RenditionSelection } from './renditions/index.ts';
import {
  type Info,
  infoList,
  readAlbum,
  readDetails,
  readMetadata,
  readSubtitleTracks,
  readTracks,
} from './yt-dlp/index.ts';

const FRESH_SECONDS = 3600;
/** For live media, and for what is incomplete: a busy machine must not resolve the same link with every request. */
const FRESH_SHORT_SECONDS = 30;
/** URLs count as stale this long before they expire, so that a stream that starts now can still read them. */
const EXPIRY_MARGIN_SECONDS = 300;
/** One day after the last use, plus the hour in which `touchResource` writes once. */
export const RETENTION_SECONDS = 25 * 3600;

export const epochSeconds = (): number => Math.floor(Date.now() / 1000);

export const isLive = (info: Info): boolean => info.is_live === true || info.live_status === 'is_live';

interface AssembleOptions {
  readonly origin: ResourceOrigin;
  /** The outgoing identity. */
  readonly egress: string;
  /** Epoch seconds. */
  readonly now: number;
  /** Some formats could not be read, for a reason that may pass. @default false */
  readonly isIncomplete?: boolean;
}

/**
 * Builds the Resource of an item: its renditions, and what their streams promise (duration, size, tag).
 * @throws NotFound or NotDeliverable when there is no rendition
 */
export function assembleResource(
  info: Info,
  { renditions, tracks, conversions, conversionOf }: RenditionSelection,
  { origin, egress, now, isIncomplete = false }: AssembleOptions,
): Resource {
  if (renditions.length === 0) throw noRenditionError(info);
  const metadata = readMetadata(info);
  const live = isLive(info);
  // Lists of live text never end.
  const subtitles = readSubtitleTracks(info, now).filter(({ track }) => !live || capabilitiesOf(track).isFile);
  const formatId = renditions.find(({ id }) => id === conversionOf)?.formatIds[0];
  const converted = tracks.find((track) => track.formatId === formatId);
  const durationSeconds = live
    ? undefined
    : (converted?.durationSeconds ?? tracks.find((track) => track.durationSeconds)?.durationSeconds);
  const details = readDetails(info, durationSeconds);
  return {
    id: resourceId(origin),
    origin,
    ...metadata,
    ...readAlbum(info),
    ...(durationSeconds && { durationSeconds }),
    isLive: live,
    tracks: [...tracks, ...subtitles.map(({ track }) => track)],
    renditions,
    ...(subtitles.length > 0 && { subtitles: subtitles.map(({ subtitle }) => subtitle) }),
    ...(details && { details }),
    ...promiseConversions(conversions, durationSeconds, tagText(metadata)),
    egress,
    ...(isIncomplete && { isIncomplete }),
    freshUntil: freshUntil(tracks, live || isIncomplete, now),
    expiresAt: now + RETENTION_SECONDS,
  };
}

/** Epoch seconds until which a resource with these tracks can be answered from the table. */
export function freshUntil(tracks: readonly Track[], isShort: boolean, now: number): number {
  if (isShort) return now + FRESH_SHORT_SECONDS;
  const expiries = tracks.flatMap(({ urlExpiresAt }) => urlExpiresAt ?? []);
  return Math.max(now, Math.min(now + FRESH_SECONDS, ...expiries.map((expiry) => expiry - EXPIRY_MARGIN_SECONDS)));
}

/** NotDeliverable for protected media and unsupported protocols; NotFound otherwise: images (`mhtml`) are not media. */
function noRenditionError(info: Info): Error {
  const formats = infoList(info.formats);
  if (info._has_drm === true || formats.some(({ has_drm }) => has_drm === true))
    return new NotDeliverable('The media is DRM protected.', { reason: 'drm' });
  const protocols = formats.flatMap(({ protocol }) =>
    typeof protocol === 'string' && protocol !== 'mhtml' ? protocol : [],
  );
  if (protocols.length > 0 && protocols.every((protocol) => protocol === 'sabr'))
    return new NotDeliverable('The source sends this media by SABR alone, a protocol of YouTube that is not handled.');
  return protocols.length > 0
    ? new NotDeliverable('The source sends this media in a way that is not handled.')
    : new NotFound(undefined, { reason: 'no-media' });
}

export interface SaveOptions {
  readonly cache: ResourceState;
  readonly egress: Pick<Egress, 'request'>;
  readonly log: Log;
  /** Hosts whose files may stop after the first minute. */
  readonly probedHosts: readonly string[];
}

/**
 * Builds the Resource of an item: probes its files, merges it with the stored Resource, and stores it.
 * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable
 */
export async function saveItem(
  { info, identity, ...extraction }: Extraction,
  origin: ResourceOrigin,
  { cache, egress, log, probedHosts, deadline }: SaveOptions & { readonly deadline: Deadline },
): Promise<Resource> {
  // Entries of a list are saved at once, and many formats with long URLs take long: each step has a turn.
  await ownTurn();
  const candidates = readTracks(info, epochSeconds());
  await ownTurn();
  const probing = { ...deadline, egress, identity, signal: deadlineSignal(deadline), link: origin.url };
  const hosts = isLive(info) ? [] : probedHosts;
  const [stored, { result: selection, failure }] = await Promise.all([
    cache.getResource(resourceId(origin)),
    inspectTracks(candidates, { ...probing, probedHosts: hosts }),
  ]);
  const isIncomplete = extraction.isIncomplete || failure !== undefined;
  if (isIncomplete)
    log.info('Formats could not be read', {
      url: origin.url,
      error: describeError(failure ?? 'A request of yt-dlp timed out'),
    });
  const found = assembleResource(info, selection, { origin, egress: identity, now: epochSeconds(), isIncomplete });
  const resource = stored ? mergeResource(stored, found) : found;
  await ownTurn();
  await cache.putResource(resource);
  return resource;
}
