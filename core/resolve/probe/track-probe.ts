import { createDecipheriv } from 'node:crypto';
import type { Egress } from '../../egress/index.ts';
import { EgressRefused, NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { requestHeaders } from '../../http/index.ts';
import { fileType } from '../../media/codecs/index.ts';
import { firstFragmentUrl, scanDashManifest } from '../../media/dash/index.ts';
import { PlaylistError } from '../../media/hls/index.ts';
import { plausibleDuration } from '../../media/index.ts';
import type { ManifestFacts } from '../../media/timeline/index.ts';
import { type ParsingOptions, parse, SCAN_HLS_PLAYLIST } from '../../parsing/index.ts';
import { initializationVector, keyUrl, knownKey, segmentUrl, type Track } from '../../state/index.ts';
import { isFinal, webUrl } from '../yt-dlp/index.ts';
import { collect, openReader } from './guarded-reader.ts';
import { createPrivateHostCheck } from './private-host-check.ts';
import { isEncrypted, type Probed, type ProbeResult, probe, probeSegment } from './probe.ts';

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

/** As much as streaming reads of a playlist. */
const MAX_PLAYLIST_BYTES = 8 * 1024 * 1024;
/** Enough to contain the root element of a DASH manifest. */
const MANIFEST_HEAD_BYTES = 256 * 1024;
/** Enough of a segment to contain the parameters of its codecs. */
const SEGMENT_HEAD_BYTES = 128 * 1024;
const AES_KEY_BYTES = 16;
const AES_BLOCK_BYTES = 16;

type SegmentTraits = Pick<Track, 'video' | 'audio'> | undefined;
const UNKNOWN_TRAITS: Probed<SegmentTraits> = { result: undefined };

/** An AES-128 key, or its URL, and the initialization vector of the first segment. */
interface SegmentCipher {
  readonly key: string | Buffer;
  readonly iv: Buffer;
}

export function createTrackProbe(options: TrackProbeOptions): TrackProbe {
  const {
    egress,
    identity,
    signal,
    client = '',
    link,
    trackTimeoutMs = 5_000,
    totalTimeoutMs = TOTAL_TIMEOUT_MS,
  } = options;
  const total = AbortSignal.any([signal, AbortSignal.timeout(totalTimeoutMs)]);
  const trackSignal = () => AbortSignal.any([total, AbortSignal.timeout(trackTimeoutMs)]);
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

  const probeFile = async (track: Track): Promise<Probed<Track>> => {
    const bounded = trackSignal();
    const reader = await openReader(track, { egress, identity, signal: bounded });
    // An empty file cannot satisfy the range that was requested.
    if (reader.status === 416) throw new NotFound('The file is empty', { reason: 'no-media' });
    if (reader.status !== 200 && reader.status !== 206) throw statusError(reader.status);
    // Not within the time for this track: waiting for a process that parses is no fault of its source.
    const { result, failure } = await probe(reader, { client, signal: total });
    if (await isEncrypted(reader.blocks, { client, signal }))
      throw new NotDeliverable(DRM_PROTECTED, { reason: 'drm' });
    if (!result) throw new NotFound('The file is not media', { reason: 'no-media' });
    return { result: withProbeResult(track, result, reader.size), failure };
  };

  const probeManifest = async (track: Track): Promise<Probed<Track>> => {
    const isHls = track.delivery === 'hls';
    const { bytes, url } = await fetchHead(track, isHls ? MAX_PLAYLIST_BYTES + 1 : MANIFEST_HEAD_BYTES);
    if (bytes.length > MAX_PLAYLIST_BYTES)
      throw new NotDeliverable('The playlist is too large.', { reason: 'too-large' });
    const facts = isHls ? await scanPlaylist(bytes, { client, signal: total }) : scanDashManifest(bytes.toString());
    if (!facts) throw new NotFound('The file is not a manifest', { reason: 'no-media' });
    const [initialization, segment] = [facts.initialization, facts.segment].map((uri) => {
      const written = webUrl(uri, url);
      return written && segmentUrl(track, written);
    });
    const statedKey = webUrl(facts.key, url);
    const key = statedKey && (knownKey(track) ?? keyUrl(track, statedKey));
    await requireAllowed([segment, initialization, typeof key === 'string' ? key : undefined]);

    const first = initialization ?? segment;
    const cipher = key && facts.iv ? { key, iv: initializationVector(track, facts.iv) } : undefined;
    const isReadable = !key || (cipher !== undefined && !initialization);
    const { result: traits, failure } =
      first && isReadable && isUndescribedPlaylist(track)
        ? await probeFirstSegment({ ...track, url: first }, cipher)
        : UNKNOWN_TRAITS;
    const { isRounded } = facts;
    const durationSeconds = isRounded ? undefined : (facts.durationSeconds ?? track.durationSeconds);
    const result = {
      ...(isRounded ? withoutDuration(track) : track),
      ...(traits && {
        video: traits.video && { ...track.video, ...traits.video },
        // Audio may start after the part of a segment that was read; an initialization section lists all tracks.
        audio: traits.audio ?? (initialization ? null : {}),
      }),
      ...(durationSeconds !== undefined && { durationSeconds }),
      ...(traits && track.description && { description: describe(track.description, traits) }),
    };
    return { result, failure };
  };

  const probeFirstSegment = async (track: Track, cipher: SegmentCipher | undefined): Promise<Probed<SegmentTraits>> => {
    try {
      const { bytes } = await fetchHead(track, SEGMENT_HEAD_BYTES);
      const key = cipher && (await readKey(track, cipher.key));
      if (key && key.length < AES_KEY_BYTES) return UNKNOWN_TRAITS;
      const plain = cipher && key ? decryptHead(bytes, key, cipher.iv) : bytes;
      return { result: await probeSegment(plain, { client, signal: total }) };
    } catch (error) {
      // The traits stay unknown; a stream will report the failure.
      return { result: undefined, failure: isFinal(error) ? undefined : error };
    }
  };

  const readKey = async (track: Track, key: string | Buffer): Promise<Buffer> =>
    typeof key === 'string' ? (await fetchHead({ ...track, url: key }, AES_KEY_BYTES)).bytes : key;

  return {
    probeTrack: (track) => (track.delivery === 'direct' ? probeFile(track) : probeManifest(track)),
    async checkHosts(track) {
      const { url, fragments, fragmentBaseUrl } = track;
      await requireAllowed([url, webUrl(fragments && firstFragmentUrl(fragments), fragmentBaseUrl)]);
      return { result: track };
    },
  };
}

/** @throws NotDeliverable for a playlist that is malformed or exceeds a limit: a stream of it would fail */
async function scanPlaylist(bytes: Buffer, options: ParsingOptions): Promise<ManifestFacts | undefined> {
  try {
    return await parse(SCAN_HLS_PLAYLIST, bytes, options);
  } catch (cause) {
    if (cause instanceof PlaylistError) throw new NotDeliverable(`${cause.message}.`, { cause });
    throw cause;
  }
}

function statusError(status: number): Error {
  if ([401, 403, 451].includes(status))
    return new NotDeliverable('The source refused to hand out this media.', { reason: 'refused' });
  if ([404, 410].includes(status))
    return new NotFound(`Upstream returned ${status}`, { reason: status === 410 ? 'gone' : 'not-found' });
  return new UpstreamError(`Upstream returned ${status}`, { reason: status === 429 ? 'rate-limited' : 'site-error' });
}

/** Decrypts the start of a segment (AES-128-CBC, RFC 8216 §4.3.2.4), up to the last complete block. */
function decryptHead(bytes: Buffer, key: Buffer, iv: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  return decipher.update(bytes.subarray(0, bytes.length - (bytes.length % AES_BLOCK_BYTES)));
}

export const withoutDuration = ({ durationSeconds: _, ...track }: Track): Track => track;

/** The bytes of a file are more reliable than its link; but a container name of the same media type is kept. */
function withProbeResult(track: Track, { isAssumed, ...result }: ProbeResult, sizeBytes: number | undefined): Track {
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
