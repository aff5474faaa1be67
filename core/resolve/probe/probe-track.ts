import { fileType } from '@reelay/seekable-media/codecs';
import { firstFragmentUrl } from '@reelay/seekable-media/dash';
import { plausibleDuration } from '@reelay/seekable-media/values';
import { COMPRESSED, NotDeliverable, NotFound } from '../../errors/index.ts';
import type { Track } from '../../state/index.ts';
import { webUrl } from '../yt-dlp/index.ts';
import { manifestKinds, probeManifest } from './probe-manifest.ts';
import {
  describeTraits,
  type FileTraits,
  hasCodec,
  isEncrypted,
  openFile,
  type Probed,
  readTraits,
  withoutDuration,
} from './read-file.ts';
import { type Probe, requireAllowed, statusError, trackSignal } from './request-track.ts';

export const DRM_PROTECTED = 'The media is DRM protected.';

/**
 * The track with codecs, height, duration and size from its file or manifest, where the description of its source is incomplete.
 * @throws NotFound when it is not media, NotDeliverable, UpstreamError, EgressRefused; TimeoutError (DOMException)
 */
export async function probeTrack(track: Track, probe: Probe): Promise<Probed<Track>> {
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
export async function checkHosts(track: Track, probe: Probe): Promise<Probed<Track>> {
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
