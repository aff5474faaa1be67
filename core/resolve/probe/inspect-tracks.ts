import { discardResponse } from '@reelay/guarded-fetch';
import { fileType, isMediaContainer } from '@reelay/seekable-media/codecs';
import { dashTimeline, firstFragmentUrl, unpackDashSegments } from '@reelay/seekable-media/dash';
import { offsetAfterFirstMinute, segmentAfterFirstMinute } from '@reelay/seekable-media/timeline';
import { plausibleDuration } from '@reelay/seekable-media/values';
import { availabilityDelayMs, MAX_AVAILABILITY_WAIT_MS, segmentUrl, untilAvailable } from '@reelay/source/track';
import pLimit from 'p-limit';
import { hostMatcher } from '../../config/index.ts';
import { COMPRESSED, EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { capabilitiesOf, type Track } from '../../state/index.ts';
import { type RenditionSelection, selectRenditions } from '../renditions/index.ts';
import { type Candidate, isPermanent, webUrl } from '../yt-dlp/index.ts';
import { manifestKinds, probeManifest } from './probe-manifest.ts';
import {
  describeTraits,
  type FileTraits,
  hasCodec,
  isEncrypted,
  isUndescribedPlaylist,
  openFile,
  type Probed,
  readTraits,
  withoutDuration,
} from './read-file.ts';
import {
  type Probe,
  type ProbeOptions,
  readBody,
  requestTrack,
  requireAllowed,
  startProbe,
  statusError,
  TOTAL_TIMEOUT_MS,
  trackSignal,
} from './request-track.ts';

/** Tracks of one item that are requested at once. */
const CONCURRENCY = 6;
/** The best tracks of an item. Further ones are offered only if an extractor of their site describes them. */
const MAX_PROBED = 40;

/** Whether the description of a track lacks what its rendition needs. */
function needsProbe({ isBareLink, isGeneric, isUntested, track }: Candidate): boolean {
  if (!capabilitiesOf(track).isFile) return isUndescribedPlaylist(track);
  return (
    isUntested === true ||
    isBareLink ||
    isGeneric === true ||
    !isMediaContainer(track.container) ||
    !hasCodec(track) ||
    (track.sizeBytes ?? track.durationSeconds) === undefined
  );
}

interface InspectOptions extends ProbeOptions {
  /** Hosts, with their subdomains, whose files may stop after the first minute. @default none */
  readonly probedHosts?: readonly string[];
  /** Epoch milliseconds until which tracks may be waited for. @default they are not */
  readonly deadline?: number;
}

/**
 * Selects the renditions of an item. Before, it probes the tracks whose description is incomplete, and those that their hosts may
 * stop early; after, the one that conversions read, for its exact duration. Tracks that are not media, or that the egress guard refuses, are omitted. A probe
 * that runs out of time, or fails for another reason that may pass, makes the result incomplete.
 * @throws NotFound, NotDeliverable or UpstreamError when no track is left
 */
export async function inspectTracks(
  candidates: readonly Candidate[],
  options: InspectOptions,
): Promise<Probed<RenditionSelection>> {
  const undescribed = candidates.filter(needsProbe);
  const incomplete = new Set(undescribed.slice(0, MAX_PROBED));
  await waitForTracks([...incomplete], options);
  const probe = startProbe(options);
  const excess = new Set(undescribed.slice(MAX_PROBED).filter(({ isGeneric }) => isGeneric));
  const probed = candidates.filter((candidate) => !excess.has(candidate));
  const failures: unknown[] = [];

  const inspectOne = async (candidate: Candidate): Promise<Probed<Candidate[]>> => {
    const { track, isBareLink, isGeneric } = candidate;
    try {
      if (incomplete.has(candidate)) await untilAvailable(track, { maxWaitMs: 0, signal: options.signal });
      const { result, failure } = await (incomplete.has(candidate) ? probeTrack : checkHosts)(track, probe);
      options.signal.throwIfAborted();
      return { result: [{ ...candidate, track: result }], failure };
    } catch (error) {
      options.signal.throwIfAborted();
      failures.push(error);
      if (isPermanent(error)) return { result: [] };
      // A generic page may link anything: unread files are not offered.
      const isDelayed = error instanceof UpstreamError && error.reason === 'delayed';
      const isDescribed = hasCodec(track) || (isMediaContainer(track.container) && !isDelayed);
      const isOffered = !incomplete.has(candidate) || (isDescribed && !isBareLink && !isGeneric);
      return { result: isOffered ? [candidate] : [], failure: error };
    }
  };
  const inspected = await pLimit(CONCURRENCY).map(probed, inspectOne);
  const usable = inspected
    .flatMap(({ result }) => result)
    .filter(({ track }) => !capabilitiesOf(track).isFile || isMediaContainer(track.container));
  if (usable.length === 0 && candidates.length > 0) throw combineFailures(failures);
  const described = new Set(candidates.filter((one) => !needsProbe(one)).map(({ track }) => track.formatId));
  const selection = selectRenditions(await markPartial(usable, options.probedHosts, probe));
  const exact = await withExactDuration(selection, described, probe);
  return { ...exact, failure: exact.failure ?? inspected.find(({ failure }) => failure !== undefined)?.failure };
}

/** Waits until the sources of tracks serve them, as far as the deadline leaves time to probe them then. */
async function waitForTracks(
  candidates: readonly Candidate[],
  { deadline = 0, signal, totalTimeoutMs = TOTAL_TIMEOUT_MS }: InspectOptions,
): Promise<void> {
  const now = Date.now();
  const maxWaitMs = Math.min(MAX_AVAILABILITY_WAIT_MS, deadline - now - totalTimeoutMs);
  const awaited = candidates.filter(({ track }) => availabilityDelayMs(track, now) <= maxWaitMs);
  await Promise.all(awaited.map(({ track }) => untilAvailable(track, { maxWaitMs, signal })));
}

/**
 * Sets the duration of the track that conversions read to what its container or playlist says.
 * @param described formats that were not probed
 */
async function withExactDuration(
  selection: RenditionSelection,
  described: ReadonlySet<string>,
  probe: Probe,
): Promise<Probed<RenditionSelection>> {
  const { renditions, tracks, conversionOf } = selection;
  const formatId = renditions.find(({ id }) => id === conversionOf)?.formatIds[0];
  const track = tracks.find((one) => one.formatId === formatId);
  // A track that has to be waited for is not worth the delay.
  if (!track || !described.has(track.formatId) || availabilityDelayMs(track, Date.now()) > 0)
    return { result: selection };
  // A failed probe only leaves the duration inexact: the format itself is described by its source.
  const { result: exact, failure } = await probeTrack(track, probe).catch((error) => ({
    result: undefined,
    failure: isPermanent(error) ? undefined : error,
  }));
  if (!exact || failure) return { result: selection, failure };
  const { durationSeconds } = exact;
  // A playlist with durations in whole seconds: the item's other playlists are alike. A file without a duration cannot hold
  // what its source declares.
  const areRounded = capabilitiesOf(track).mayRoundDurations && durationSeconds === undefined;
  const withDuration = (one: Track): Track => {
    if (areRounded ? one.delivery === track.delivery : one === track && !durationSeconds) return withoutDuration(one);
    return one === track && durationSeconds ? { ...one, durationSeconds } : one;
  };
  return { result: { ...selection, tracks: tracks.map(withDuration) } };
}

/** Chooses the most specific failure: DRM, then a refusal; NotFound only when it applies to all tracks. */
function combineFailures(failures: readonly unknown[]): Error {
  const refusals = failures.filter((failure) => failure instanceof NotDeliverable);
  const refusal = refusals.find(({ detail }) => detail === DRM_PROTECTED) ?? refusals[0];
  if (refusal) return refusal;
  const [cause] = failures;
  const absences = failures.filter((failure) => failure instanceof NotFound || failure instanceof EgressRefused);
  if (absences.length === failures.length) return new NotFound(undefined, { cause, reason: absences[0]?.reason });
  const failed = failures.find((failure) => failure instanceof UpstreamError);
  const { reason, retryAfterSeconds } = failed ?? {};
  return new UpstreamError('No format can be read', { cause, reason, retryAfterSeconds });
}

/** For all tracks together: a source that does not answer in it is taken to serve the whole. */
const LATER_TIMEOUT_MS = 3_000;
/** Bytes that are requested from behind the first minute. */
const LATER_BYTES = 1024;
/** Later bytes are refused, or the source behaves as if they were not there. */
const REFUSED: readonly number[] = [401, 403, 404, 410, 416];

/**
 * Marks the candidates whose hosts refuse what comes after the first minute. Any other failure says nothing of that.
 * @param probedHosts hosts, with their subdomains, that are asked
 */
async function markPartial(
  candidates: readonly Candidate[],
  probedHosts: readonly string[] = [],
  probe: Probe,
): Promise<Candidate[]> {
  const isProbed = hostMatcher(probedHosts);
  const isUncertain = ({ track }: Candidate) =>
    isProbed(firstUrl(track)) && availabilityDelayMs(track, Date.now()) === 0;
  const uncertain = candidates.filter(isUncertain).slice(0, MAX_PROBED);
  if (uncertain.length === 0) return [...candidates];
  const signal = AbortSignal.any([probe.callerSignal, AbortSignal.timeout(LATER_TIMEOUT_MS)]);
  const request = { ...probe, signal, parsing: { ...probe.parsing, signal }, isProbed };
  const refused = await pLimit(CONCURRENCY).map(uncertain, ({ track }) =>
    isRefusedLater(track, request).catch(() => false),
  );
  probe.callerSignal.throwIfAborted();
  const partial = new Set(uncertain.filter((_, index) => refused[index]));
  return candidates.map((candidate) => (partial.has(candidate) ? { ...candidate, stopsEarly: true } : candidate));
}

const firstUrl = ({ url, fragmentBaseUrl }: Track): string => fragmentBaseUrl ?? url;

type Request = Probe & { readonly isProbed: (url: string) => boolean };

async function isRefusedLater(track: Track, request: Request): Promise<boolean> {
  const { url, offset = 0 } = (await findLaterBytes(track, request)) ?? {};
  if (!url || !request.isProbed(url)) return false;
  const response = await requestTrack(track, {
    ...request,
    url,
    range: { first: offset, last: offset + LATER_BYTES - 1 },
  });
  discardResponse(response);
  return REFUSED.includes(response.status);
}

interface LaterBytes {
  readonly url: string;
  /** Where the bytes behind the first minute begin. */
  readonly offset: number;
}

/** Where the bytes after the first minute of a track begin; undefined for a shorter one, or when it is not known. */
async function findLaterBytes(track: Track, request: Request): Promise<LaterBytes | undefined> {
  const { url, fragments, fragmentBaseUrl, durationSeconds, sizeBytes } = track;
  if (fragments) {
    const { segments } = dashTimeline([...unpackDashSegments(fragments)], { isLive: false, baseUrl: fragmentBaseUrl });
    const segment = segmentAfterFirstMinute([...segments]);
    return segment && { url: segmentUrl(track, segment.content.url), offset: segment.content.range?.first ?? 0 };
  }
  if (capabilitiesOf(track).isFile) {
    const offset = offsetAfterFirstMinute(sizeBytes, durationSeconds);
    return offset === undefined ? undefined : { url, offset };
  }
  const response = await requestTrack(track, request);
  const kind = manifestKinds[track.delivery];
  const facts = await kind?.scan(await readBody(response, kind.maxBytes), request.parsing);
  const later = webUrl(facts?.later?.uri, response.url);
  return later === undefined ? undefined : { url: segmentUrl(track, later), offset: facts?.later?.offset ?? 0 };
}

const DRM_PROTECTED = 'The media is DRM protected.';

/**
 * The track with codecs, height, duration and size from its file or manifest, where the description of its source is incomplete.
 * @throws NotFound when it is not media, NotDeliverable, UpstreamError, EgressRefused; TimeoutError (DOMException)
 */
async function probeTrack(track: Track, probe: Probe): Promise<Probed<Track>> {
  const kind = manifestKinds[track.delivery];
  if (kind) return probeManifest(track, kind, probe);
  const file = await openFile(track, { ...probe, signal: trackSignal(probe) });
  // An empty file cannot satisfy the range that was requested.
  if (file.status === 416) throw new NotFound('The file is empty', { reason: 'no-media' });
  if (file.status !== 200 && file.status !== 206) throw statusError(file.status);
  const { result, failure } = await readTraits(file, probe.parsing);
  // Also when the time is over: what is encrypted is not offered.
  if (await isEncrypted(file.blocks, { ...probe.parsing, signal: probe.callerSignal }))
    throw new NotDeliverable(DRM_PROTECTED, { reason: 'drm' });
  if (!result) throw new NotFound('The file is not media', { reason: 'no-media' });
  if (file.isCompressed) throw new NotDeliverable(COMPRESSED);
  return { result: withTraits(track, result, file.size), failure };
}

/** @returns the track itself. @throws EgressRefused when the track is on a private host; TimeoutError (DOMException) */
async function checkHosts(track: Track, probe: Probe): Promise<Probed<Track>> {
  const { url, fragments, fragmentBaseUrl } = track;
  await requireAllowed([url, webUrl(fragments && firstFragmentUrl(fragments), fragmentBaseUrl)], probe);
  return { result: track };
}

/** The bytes of a file are more reliable than its link; but a container name of the same media type is kept. */
function withTraits(track: Track, { isAssumed, ...result }: FileTraits, sizeBytes: number | undefined): Track {
  const hasVideo = result.video !== null;
  // What the source describes, for example in a DASH manifest, is more reliable than an assumption.
  const { video, audio } = isAssumed && hasCodec(track) ? track : result;
  const durationSeconds = plausibleDuration(result.durationSeconds ?? track.durationSeconds, sizeBytes);
  const isSameType = fileType(track.container, hasVideo).mimeType === fileType(result.container, hasVideo).mimeType;
  return {
    ...withoutDuration(track),
    ...result,
    ...(durationSeconds !== undefined && { durationSeconds }),
    container: isSameType ? track.container : result.container,
    video: video && (track.video || video.codec) ? { ...track.video, ...video } : null,
    audio: audio && { ...track.audio, ...audio },
    ...(sizeBytes !== undefined && { sizeBytes, sizeIsExact: true }),
    ...(track.description && { description: describeTraits(track.description, result) }),
  };
}
