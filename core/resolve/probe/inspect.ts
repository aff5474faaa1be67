import pLimit from 'p-limit';
import { EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { isMediaContainer } from '../../media/codecs/index.ts';
import type { Delivery, Track } from '../../state/index.ts';
import { selectRenditions } from '../renditions/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import {
  createTrackProbe,
  DRM_PROTECTED,
  hasCodec,
  isUndescribedPlaylist,
  type TrackProbeOptions,
  withoutDuration,
} from './track-probe.ts';

/** Tracks probed at once for one item. */
const CONCURRENCY = 6;
/** The best tracks of an item. Further ones are offered only if an extractor of their site describes them. */
const MAX_PROBED = 40;

/** By delivery: whether the description of a track lacks what its rendition needs. */
const NEEDS_PROBE: Readonly<Record<Delivery, (candidate: Candidate) => boolean>> = {
  direct: ({ isBareLink, isGeneric, track }) =>
    isBareLink ||
    isGeneric ||
    !isMediaContainer(track.container) ||
    !hasCodec(track) ||
    (track.sizeBytes ?? track.durationSeconds) === undefined,
  hls: ({ track }) => isUndescribedPlaylist(track),
  // The manifest describes every representation.
  dash: () => false,
};

const needsProbe = (candidate: Candidate): boolean => NEEDS_PROBE[candidate.track.delivery](candidate);

/**
 * Probes the tracks whose description is incomplete, and the one that conversions read for its exact duration. Tracks that
 * are not media, or that the egress guard refuses, are omitted.
 * @throws NotFound, NotDeliverable or UpstreamError when no track is left
 */
export async function inspect(candidates: readonly Candidate[], options: TrackProbeOptions): Promise<Candidate[]> {
  const limit = pLimit(CONCURRENCY);
  const { probeTrack, checkHosts } = createTrackProbe(options);
  const undescribed = candidates.filter(needsProbe);
  const incomplete = new Set(undescribed.slice(0, MAX_PROBED));
  const excess = new Set(undescribed.slice(MAX_PROBED).filter(({ isGeneric }) => isGeneric));
  const probed = candidates.filter((candidate) => !excess.has(candidate));
  const failures: unknown[] = [];

  const inspectOne = async (candidate: Candidate): Promise<Candidate[]> => {
    try {
      const track = await (incomplete.has(candidate) ? probeTrack(candidate.track) : checkHosts(candidate.track));
      return [{ ...candidate, track }];
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push(error);
      return [];
    }
  };
  const inspected = await Promise.all(probed.map((one) => limit(() => inspectOne(one))));
  const usable = inspected
    .flat()
    .filter(({ track }) => track.delivery !== 'direct' || isMediaContainer(track.container));
  if (usable.length === 0 && candidates.length > 0) throw combineFailures(failures);
  return withExactDuration(candidates, usable, probeTrack);
}

/** Sets the duration of the track that conversions read to what its container or playlist says. */
async function withExactDuration(
  candidates: readonly Candidate[],
  usable: Candidate[],
  probeTrack: (track: Track) => Promise<Track>,
): Promise<Candidate[]> {
  const { renditions, conversionOf } = selectRenditions(usable);
  const formatId = renditions.find(({ id }) => id === conversionOf)?.formatIds[0];
  const index = usable.findIndex(({ track }) => track.formatId === formatId);
  const candidate = usable[index];
  if (!candidate || candidates.some((one) => one.track.formatId === formatId && needsProbe(one))) return usable;
  // A failed probe only leaves the duration inexact: the format itself is described by its source.
  const exact = await probeTrack(candidate.track).catch(() => undefined);
  if (!exact) return usable;
  // A playlist with durations in whole seconds. The item's other playlists are alike.
  if (candidate.track.delivery === 'hls' && exact.durationSeconds === undefined)
    return usable.map((one) => (one.track.delivery === 'hls' ? { ...one, track: withoutDuration(one.track) } : one));
  // Without a duration, the file cannot hold what its source declares.
  const { durationSeconds } = exact;
  const track = durationSeconds ? { ...candidate.track, durationSeconds } : withoutDuration(candidate.track);
  return usable.with(index, { ...candidate, track });
}

/** The most specific failure: DRM, then a refusal; NotFound only when it applies to all tracks. */
function combineFailures(failures: readonly unknown[]): Error {
  const refusals = failures.filter((failure) => failure instanceof NotDeliverable);
  const refusal = refusals.find(({ detail }) => detail === DRM_PROTECTED) ?? refusals[0];
  if (refusal) return refusal;
  const [cause] = failures;
  return failures.every((failure) => failure instanceof NotFound || failure instanceof EgressRefused)
    ? new NotFound(undefined, { cause })
    : new UpstreamError('No format can be read', { cause });
}
