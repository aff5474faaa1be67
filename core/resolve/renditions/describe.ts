import type { FileType } from '../../media/codecs/index.ts';
import type { Rendition } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';
import { shorterSide } from './traits.ts';

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
