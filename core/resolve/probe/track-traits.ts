import { capabilitiesOf, type Track } from '../../state/index.ts';

export const withoutDuration = ({ durationSeconds: _, ...track }: Track): Track => track;

/** Completes yt-dlp's description of a format in yt-dlp's own notation (`mp4 - 1280x720`). */
export const describeTraits = (description: string, { video }: Pick<Track, 'video'>): string =>
  description.replace(
    / - unknown$/,
    video?.height ? ` - ${video.width}x${video.height}` : video ? '$&' : ' - audio only',
  );

/**
 * Whether it is an HLS media playlist whose segments have to be read: no multivariant playlist describes it, or one without
 * CODECS (FFmpeg writes such), which leaves open whether a variant with AUDIO has audio in its own segments.
 */
export const isUndescribedPlaylist = (track: Track): boolean =>
  capabilitiesOf(track).mayOmitCodecs && !hasCodec(track) && (track.video !== null || track.bitrate === undefined);

export const hasCodec = ({ video, audio }: Track): boolean => (video?.codec ?? audio?.codec) !== undefined;
