import { audioFamily } from '../../media/codecs/index.ts';
import type { Track } from '../../state/index.ts';

/** The figure that names a resolution (`1080p`): the shorter side in pixels, so that vertical video compares with horizontal. */
export function shorterSide({ video }: Pick<Track, 'video'>): number | undefined {
  if (!video?.height) return undefined;
  return Math.min(video.height, video.width ?? video.height);
}

/** kbit/s of the audio alone; of a track without separate figures, of the whole track. */
export const audioBitrate = (track: Track): number | undefined => track.audio?.bitrate ?? track.bitrate;

const family = (track: Track) => (track.audio?.codec ? audioFamily(track.audio.codec) : undefined);

export const isOpus = (track: Track): boolean => family(track) === 'opus';

/** Audio of an unknown codec in MP4 is nearly always AAC. */
export const isAac = (track: Track): boolean =>
  family(track) === 'aac' || (!track.audio?.codec && /^(?:mp4|m4a|aac)$/.test(track.container));
