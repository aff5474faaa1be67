import { createDecipheriv } from 'node:crypto';
import type { Egress } from '../../egress/index.ts';
import { EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { requestHeaders } from '../../http/index.ts';
import { fileType } from '../../media/codecs/index.ts';
import { scanDashManifest } from '../../media/dash/index.ts';
import { isRounded, PlaylistError, scanHlsPlaylist } from '../../media/hls/index.ts';
import { plausibleDuration } from '../../media/index.ts';
import type { ManifestFacts } from '../../media/timeline/index.ts';
import type { Track } from '../../state/index.ts';
import { webUrl } from '../yt-dlp/index.ts';
import { collect, openReader } from './guarded-reader.ts';
import { createPrivateHostCheck } from './private-host-check.ts';
import { isEncrypted, type ProbeResult, probe, probeSegment } from './probe.ts';

export interface TrackProbeOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
  /** Whose share of the probe is used. @default the service itself */
  readonly client?: string;
  /** The link that is being resolved. */
  readonly link: string;
}

/** Completes the description of a track from its own bytes, where that of the source is incomplete. */
export interface TrackProbe {
  /**
   * The track with codecs, height, duration and size from its file or manifest.
   * @throws NotFound when it is not media, NotDeliverable, UpstreamError, EgressRefused; TimeoutError (DOMException)
   */
  probeTrack(track: Track): Promise<Track>;
  /** @returns the track itself. @throws EgressRefused when the track is on a private host */
  checkHosts(track: Track): Promise<Track>;
}

export const DRM_PROTECTED = 'The media is DRM protected.';

const TRACK_TIMEOUT_MS = 5_000;
/** For all tracks of an item together. */
const TOTAL_TIMEOUT_MS = 9_000;
/** As much as streaming reads of a playlist. */
const MAX_PLAYLIST_BYTES = 8 * 1024 * 1024;
/** Enough to contain the root element of a DASH manifest. */
const MANIFEST_HEAD_BYTES = 256 * 1024;
/** Enough of a segment to contain the parameters of its codecs. */
const SEGMENT_HEAD_BYTES = 128 * 1024;
const AES_KEY_BYTES = 16;
const AES_BLOCK_BYTES = 16;

/** An AES-128 key by its URL, and the initialization vector of the first segment. */
interface SegmentCipher {
  readonly key: string;
  readonly iv: Buffer;
}

export function createTrackProbe({ egress, identity, signal, client = '', link }: TrackProbeOptions): TrackProbe {
  const total = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]);
  const trackSignal = () => AbortSignal.any([total, AbortSignal.timeout(TRACK_TIMEOUT_MS)]);
  const isAllowed = createPrivateHostCheck({ egress, identity, signal: total, link });

  const requireAllowed = async (urls: readonly (string | undefined)[]) => {
    for (const url of urls)
      if (url && !(await isAllowed(url))) throw new EgressRefused('The media is on a private host');
  };

  const fetchHead = async (track: Track, maxBytes: number) => {
    const response = await egress.request(track.url, {
      headersFor: requestHeaders(track),
      identity,
      signal: trackSignal(),
    });
    const bytes = await collect(response, maxBytes);
    if (response.status !== 200) throw statusError(response.status);
    return { bytes, url: response.url };
  };

  const probeFile = async (track: Track): Promise<Track> => {
    const bounded = trackSignal();
    const reader = await openReader(track, { egress, identity, signal: bounded });
    // An empty file cannot satisfy the range that was requested.
    if (reader.status === 416) throw new NotFound('The file is empty');
    if (reader.status !== 200 && reader.status !== 206) throw statusError(reader.status);
    const result = await probe(reader, { client, signal: bounded });
    if (isEncrypted(reader.blocks)) throw new NotDeliverable(DRM_PROTECTED);
    if (!result) throw new NotFound('The file is not media');
    return withProbeResult(track, result, reader.size);
  };

  const probeManifest = async (track: Track): Promise<Track> => {
    const isHls = track.delivery === 'hls';
    const { bytes, url } = await fetchHead(track, isHls ? MAX_PLAYLIST_BYTES + 1 : MANIFEST_HEAD_BYTES);
    if (bytes.length > MAX_PLAYLIST_BYTES) throw new NotDeliverable('The playlist is too large.');
    const text = bytes.toString();
    const facts = isHls ? scanPlaylist(text) : scanDashManifest(text);
    if (!facts) throw new NotFound('The file is not a manifest');
    const initialization = webUrl(facts.initialization, url);
    const segment = webUrl(facts.segment, url);
    const key = webUrl(facts.key, url);
    await requireAllowed([segment, initialization, key]);

    const first = initialization ?? segment;
    const cipher = key && facts.iv ? { key, iv: facts.iv } : undefined;
    const isReadable = !key || (cipher !== undefined && !initialization);
    const traits =
      first && isReadable && isUndescribedPlaylist(track)
        ? await probeFirstSegment({ ...track, url: first }, cipher)
        : undefined;
    const isInexact = isHls && isRounded(text);
    const durationSeconds = isInexact ? undefined : (facts.durationSeconds ?? track.durationSeconds);
    return {
      ...(isInexact ? withoutDuration(track) : track),
      ...(traits && {
        video: traits.video && { ...track.video, ...traits.video },
        // Audio may start after the part of a segment that was read; an initialization section lists all tracks.
        audio: traits.audio ?? (initialization ? null : {}),
      }),
      ...(durationSeconds !== undefined && { durationSeconds }),
      ...(traits && track.description && { description: describe(track.description, traits) }),
    };
  };

  const probeFirstSegment = async (track: Track, cipher: SegmentCipher | undefined) => {
    try {
      const { bytes } = await fetchHead(track, SEGMENT_HEAD_BYTES);
      if (!cipher) return await probeSegment(bytes, { client, signal: total });
      const key = await fetchHead({ ...track, url: cipher.key }, AES_KEY_BYTES);
      return await probeSegment(decryptHead(bytes, key.bytes, cipher.iv), { client, signal: total });
    } catch {
      // The traits stay unknown; a stream will report the failure.
      return undefined;
    }
  };

  return {
    probeTrack: (track) => (track.delivery === 'direct' ? probeFile(track) : probeManifest(track)),
    async checkHosts(track) {
      const { url, fragments, fragmentBaseUrl } = track;
      await requireAllowed([url, webUrl(fragments?.[0]?.url, fragmentBaseUrl)]);
      return track;
    },
  };
}

/** @throws NotDeliverable for a playlist that is malformed or exceeds a limit: a stream of it would fail */
function scanPlaylist(text: string): ManifestFacts | undefined {
  try {
    return scanHlsPlaylist(text);
  } catch (cause) {
    if (cause instanceof PlaylistError) throw new NotDeliverable(`${cause.message}.`, { cause });
    throw cause;
  }
}

function statusError(status: number): Error {
  if ([401, 403, 451].includes(status)) return new NotDeliverable('The source refused to hand out this media.');
  if ([404, 410].includes(status)) return new NotFound(`Upstream returned ${status}`);
  return new UpstreamError(`Upstream returned ${status}`);
}

/** Decrypts the start of a segment (AES-128-CBC, RFC 8216 §4.3.2.4), up to the last complete block. */
function decryptHead(bytes: Buffer, key: Buffer, iv: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % AES_BLOCK_BYTES)));
}

export const withoutDuration = ({ durationSeconds: _, ...track }: Track): Track => track;

/** The bytes of a file are more reliable than its link; but a container name of the same media type is kept. */
function withProbeResult(track: Track, result: ProbeResult, sizeBytes: number | undefined): Track {
  const hasVideo = result.video !== null;
  const durationSeconds = plausibleDuration(result.durationSeconds ?? track.durationSeconds, sizeBytes);
  const isSameType = fileType(track.container, hasVideo).mimeType === fileType(result.container, hasVideo).mimeType;
  return {
    ...withoutDuration(track),
    ...result,
    ...(durationSeconds !== undefined && { durationSeconds }),
    container: isSameType ? track.container : result.container,
    video: result.video && (track.video || result.video.codec) ? { ...track.video, ...result.video } : null,
    audio: result.audio && { ...track.audio, ...result.audio },
    ...(sizeBytes !== undefined && { sizeBytes, sizeIsExact: true }),
    ...(track.description && { description: describe(track.description, result) }),
  };
}

/** yt-dlp's description of a format, completed in yt-dlp's own notation (`mp4 - 1280x720`). */
const describe = (description: string, { video }: Pick<Track, 'video'>): string =>
  description.replace(
    / - unknown$/,
    video?.height ? ` - ${video.width}x${video.height}` : video ? '$&' : ' - audio only',
  );

/**
 * Whether it is an HLS media playlist whose segments have to be read: no multivariant playlist describes it, or one without
 * CODECS (FFmpeg writes such), which leaves open whether a variant with AUDIO has audio in its own segments.
 */
export const isUndescribedPlaylist = (track: Track): boolean =>
  track.delivery === 'hls' && !hasCodec(track) && (track.video !== null || track.bitrate === undefined);

export const hasCodec = ({ video, audio }: Track): boolean => (video?.codec ?? audio?.codec) !== undefined;
