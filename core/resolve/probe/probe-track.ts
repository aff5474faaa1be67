import { discardResponse } from '@reelay/guarded-fetch';
import { fileType } from '@reelay/seekable-media/codecs';
import { firstFragmentUrl } from '@reelay/seekable-media/dash';
import { plausibleDuration } from '@reelay/seekable-media/values';
import type { Egress } from '../../egress/index.ts';
import { COMPRESSED, EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { formatRange, requestHeaders } from '../../http/index.ts';
import type { Track } from '../../state/index.ts';
import { webUrl } from '../yt-dlp/index.ts';
import { manifestKinds, probeManifest } from './probe-manifest.ts';
import {
  collect,
  describeTraits,
  type FileTraits,
  hasCodec,
  isEncrypted,
  openFile,
  type Probed,
  readTraits,
  requestTwice,
  withoutDuration,
} from './read-file.ts';

export interface TrackProbeOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
  /** Whose share of the probe is used. @default the service itself */
  readonly client?: string;
  /** The link that is being resolved. */
  readonly link: string;
  /** For one track. @default 5000 */
  readonly trackTimeoutMs?: number;
  /** For all tracks of an item together. @default 9000 */
  readonly totalTimeoutMs?: number;
}

/** Completes the description of a track from its own bytes, where that of the source is incomplete. */
export interface TrackProbe {
  /**
   * The track with codecs, height, duration and size from its file or manifest.
   * @throws NotFound when it is not media, NotDeliverable, UpstreamError, EgressRefused; TimeoutError (DOMException)
   */
  probeTrack(track: Track): Promise<Probed<Track>>;
  /** @returns the track itself. @throws EgressRefused when the track is on a private host; TimeoutError (DOMException) */
  checkHosts(track: Track): Promise<Probed<Track>>;
}

/** Default of `totalTimeoutMs`. */
export const TOTAL_TIMEOUT_MS = 9_000;
export const DRM_PROTECTED = 'The media is DRM protected.';

export function createTrackProbe(options: TrackProbeOptions): TrackProbe {
  const { egress, identity, signal, client = '' } = options;
  const { trackTimeoutMs = 5_000, totalTimeoutMs = TOTAL_TIMEOUT_MS } = options;
  const total = AbortSignal.any([signal, AbortSignal.timeout(totalTimeoutMs)]);
  const trackSignal = () => AbortSignal.any([total, AbortSignal.timeout(trackTimeoutMs)]);
  const isAllowed = createPrivateHostCheck(options, total);

  const requireAllowed = async (urls: readonly (string | undefined)[]) => {
    for (const url of urls)
      if (url && !(await isAllowed(url))) throw new EgressRefused('The media is on a private host');
  };

  const fetchHead = async (track: Track, maxBytes: number) => {
    const until = trackSignal();
    const options = { headersFor: requestHeaders(track), identity, signal: until, isDecoded: true };
    const response = await requestTwice(until, () => egress.request(track.url, options));
    const bytes = await collect(response, maxBytes);
    if (response.status !== 200) throw statusError(response.status);
    return { bytes, url: response.url };
  };

  const probeFile = async (track: Track): Promise<Probed<Track>> => {
    const file = await openFile(track, { egress, identity, signal: trackSignal() });
    // An empty file cannot satisfy the range that was requested.
    if (file.status === 416) throw new NotFound('The file is empty', { reason: 'no-media' });
    if (file.status !== 200 && file.status !== 206) throw statusError(file.status);
    // Not within the time for this track: waiting for a process that parses is no fault of its source.
    const { result, failure } = await readTraits(file, { client, signal: total });
    if (await isEncrypted(file.blocks, { client, signal })) throw new NotDeliverable(DRM_PROTECTED, { reason: 'drm' });
    if (!result) throw new NotFound('The file is not media', { reason: 'no-media' });
    if (file.isCompressed) throw new NotDeliverable(COMPRESSED);
    return { result: withTraits(track, result, file.size), failure };
  };

  return {
    probeTrack(track) {
      const kind = manifestKinds[track.delivery];
      if (!kind) return probeFile(track);
      return probeManifest(track, { ...kind, fetchHead, requireAllowed, parsing: { client, signal: total } });
    },
    async checkHosts(track) {
      const { url, fragments, fragmentBaseUrl } = track;
      await requireAllowed([url, webUrl(fragments && firstFragmentUrl(fragments), fragmentBaseUrl)]);
      return { result: track };
    },
  };
}

function statusError(status: number): Error {
  if ([401, 403, 451].includes(status))
    return new NotDeliverable('The source refused to provide this media.', { reason: 'refused' });
  if ([404, 410].includes(status))
    return new NotFound(`Upstream returned ${status}`, { reason: status === 410 ? 'gone' : 'not-found' });
  return new UpstreamError(`Upstream returned ${status}`, { reason: status === 429 ? 'rate-limited' : 'site-error' });
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

/** Host names that may lead to a private address: without a dot, IP literals, and zones that are never public. */
const SUSPICIOUS_HOST = /^[^.]+$|^[\d.]+$|^\[|\.(?:local|localhost|internal|lan|home|corp|intranet|arpa)$/i;

/**
 * Creates a check whether the egress guard admits the host of a URL. A page or a manifest may name any address, and yt-dlp
 * returns it unchecked. Only suspicious hosts are requested, each once: streams are guarded again when they connect.
 * @returns a check that throws the signal's reason once it is aborted
 */
function createPrivateHostCheck(
  { egress, identity, link }: TrackProbeOptions,
  signal: AbortSignal,
): (url: string) => Promise<boolean> {
  // yt-dlp has reached the host of the link through the guard.
  const results = new Map([[new URL(link).origin, Promise.resolve(true)]]);

  const isAdmitted = async (url: string): Promise<boolean> => {
    const headers = { range: formatRange({ first: 0, last: 0 }) };
    try {
      discardResponse(await egress.request(url, { headers, identity, signal, maxRedirects: 0 }));
      return true;
    } catch (error) {
      if (error instanceof EgressRefused) return false;
      // It may have been aborted before the name was resolved. Any other failure says nothing about the address.
      signal.throwIfAborted();
      return true;
    }
  };

  return (url) => {
    const { hostname, origin } = new URL(url);
    if (!SUSPICIOUS_HOST.test(hostname)) return Promise.resolve(true);
    const result = results.get(origin) ?? isAdmitted(url);
    results.set(origin, result);
    return result;
  };
}
