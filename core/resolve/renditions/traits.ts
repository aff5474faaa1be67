import { audioFamily, type FileType } from '../../media/codecs/index.ts';
import type { Rendition, Track } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';

/**
 * The figure that names a resolution (`1080p`): the shorter side in pixels, so that vertical video compares with
 * horizontal.
 */
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

/** Frame rates up to this are usual, and not named. */
const USUAL_FPS = 30;
const RESOLUTION_NAMES: Readonly<Record<number, string>> = { 2160: ' (4K)', 4320: ' (8K)' };

/** `1080p60 HDR` for video of a known resolution, else the bitrate, else the container. */
export function videoLabel({ track, isHdr }: Candidate, bitrate: number | undefined, type: FileType): string {
  const lines = shorterSide(track);
  if (!lines) return audioLabel(bitrate, type);
  const fps = Math.round(track.video?.fps ?? 0);
  return `${lines}p${fps > USUAL_FPS ? fps : ''}${isHdr ? ' HDR' : ''}${RESOLUTION_NAMES[lines] ?? ''}`;
}

/** `129 kbps`, else the container. @param bitrate kbit/s */
export const audioLabel = (bitrate: number | undefined, { fileExtension }: FileType): string =>
  bitrate ? `${Math.round(bitrate)} kbps` : fileExtension.slice(1).toUpperCase();

/** Adds the format ids to descriptions of renditions that nothing else tells apart. */
export function withDistinctDescriptions(renditions: readonly Rendition[]): Rendition[] {
  const seen = new Set<string>();
  return renditions.map((rendition) => {
    const { side, label, fileExtension, formatIds } = rendition;
    const textOf = (description: string | null) => JSON.stringify([side, label, fileExtension, description]);
    let { description } = rendition;
    while (seen.has(textOf(description))) description = `${description ?? ''} (${formatIds.join(' + ')})`.trimStart();
    seen.add(textOf(description));
    return { ...rendition, description };
  });
}
