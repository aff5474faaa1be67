import { isMediaContainer } from '../../media/codecs/index.ts';
import type { Delivery, Track } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';

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

export const needsProbe = (candidate: Candidate): boolean => NEEDS_PROBE[candidate.track.delivery](candidate);

/**
 * Whether it is an HLS media playlist whose segments have to be read: no multivariant playlist describes it, or one without
 * CODECS (FFmpeg writes such), which leaves open whether a variant with AUDIO has sound in its own segments.
 */
export const isUndescribedPlaylist = (track: Track): boolean =>
  track.delivery === 'hls' && !hasCodec(track) && (track.video !== null || track.bitrate === undefined);

const hasCodec = ({ video, audio }: Track): boolean => (video?.codec ?? audio?.codec) !== undefined;
