import type { Delivery, Track } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';

/** By delivery: whether the description of a track lacks what its rendition needs. */
const NEEDS_PROBE: Readonly<Record<Delivery, (candidate: Candidate) => boolean>> = {
  direct: ({ isBareLink, track }) =>
    isBareLink || !hasCodec(track) || (track.sizeBytes ?? track.durationSeconds) === undefined,
  hls: ({ track }) => isUndescribedPlaylist(track),
  // The manifest describes every representation.
  dash: () => false,
};

export const needsProbe = (candidate: Candidate): boolean => NEEDS_PROBE[candidate.track.delivery](candidate);

/** Whether it is an HLS media playlist that no multivariant playlist describes: its segments have to be read. */
export const isUndescribedPlaylist = (track: Track): boolean =>
  track.delivery === 'hls' && !hasCodec(track) && track.bitrate === undefined && track.video?.height === undefined;

const hasCodec = ({ video, audio }: Track): boolean => (video?.codec ?? audio?.codec) !== undefined;
