import type { ConversionName } from '../../conversions/index.ts';
import { audioFamily, videoFamily } from '../../media/codecs/index.ts';
import type { Rendition, Resource, Track } from '../../state/index.ts';
import { shorterSide } from './criteria.ts';

/** The best, the worst, the best up to a height in pixels, or audio alone. */
export type Quality = 'best' | 'worst' | 'audio' | 'mp3' | { readonly maxHeight: number };

export interface QualityRequest {
  readonly quality: Quality;
  /** `compatible` prefers what any device of the last ten years plays; `any` takes the best of all. */
  readonly codec: 'compatible' | 'any';
}

/** A rendition, and the conversion of it. */
export interface SelectedRendition {
  readonly rendition: Rendition;
  readonly format?: ConversionName;
}

type Offer = Pick<Resource, 'renditions' | 'tracks' | 'mp3'>;

/** Above this, devices that decode H.264 in hardware are rare. Pixels of the shorter side. */
const MAX_COMPATIBLE_HEIGHT = 1440;
const COMPATIBLE_EXTENSIONS = ['.mp4', '.m4v', '.m4a', '.mp3', '.aac'];

/**
 * One rendition of a resource by quality; undefined when the resource has none, such as audio of a silent video. Without
 * video, `best`, `worst` and heights select its audio. Without a rendition up to a height, the smallest is selected.
 */
export function selectQuality(resource: Offer, { quality, codec }: QualityRequest): SelectedRendition | undefined {
  if (quality === 'mp3') return selectMp3(resource);
  const audio = resource.renditions.filter(({ side }) => side === 'audio');
  // A video alone would be sent where only audio is wanted.
  if (quality === 'audio' && audio.length === 0) return selectMp3(resource);
  const video = resource.renditions.filter(({ side }) => side === 'video');
  const all = quality === 'audio' || video.length === 0 ? audio : video;
  const tracks = new Map(resource.tracks.map((track) => [track.formatId, track]));
  const compatible = codec === 'compatible' ? all.filter((rendition) => isCompatible(rendition, tracks)) : [];
  const rendition = pick(compatible.length > 0 ? compatible : all, quality, tracks);
  return rendition && { rendition };
}

type TracksById = ReadonlyMap<string, Track>;

/** The promised conversion; none is promised for sources that are MP3. */
function selectMp3({ renditions, mp3 }: Offer): SelectedRendition | undefined {
  const converted = renditions.find(({ id }) => id === mp3?.renditionId);
  if (converted) return { rendition: converted, format: 'mp3' };
  const rendition = renditions.find(({ side, fileExtension }) => side === 'audio' && fileExtension === '.mp3');
  return rendition && { rendition };
}

/** @param candidates best first */
function pick(candidates: readonly Rendition[], quality: Quality, tracks: TracksById): Rendition | undefined {
  if (quality === 'worst') return candidates.at(-1);
  if (typeof quality === 'string') return candidates[0];
  const heightOf = (rendition: Rendition) => heightOfRendition(rendition, tracks) ?? 0;
  const fitting = candidates.filter((rendition) => heightOf(rendition) <= quality.maxHeight);
  const tallest = Math.max(...fitting.map(heightOf));
  return fitting.find((rendition) => heightOf(rendition) === tallest) ?? candidates.at(-1);
}

/** Unknown codecs in MP4 are nearly always H.264 and AAC. */
function isCompatible(rendition: Rendition, tracks: TracksById): boolean {
  const isCommon = ({ video, audio }: Track) =>
    (!video?.codec || videoFamily(video.codec) === 'h264') &&
    (!audio?.codec || ['aac', 'mp3'].includes(audioFamily(audio.codec) ?? ''));
  return (
    COMPATIBLE_EXTENSIONS.includes(rendition.fileExtension) &&
    (heightOfRendition(rendition, tracks) ?? 0) <= MAX_COMPATIBLE_HEIGHT &&
    tracksOf(rendition, tracks).every(isCommon)
  );
}

/** As in labels: vertical video compares by its width. */
const heightOfRendition = (rendition: Rendition, tracks: TracksById): number | undefined =>
  tracksOf(rendition, tracks).map(shorterSide).find(Boolean) ?? rendition.height;

const tracksOf = ({ formatIds }: Rendition, tracks: TracksById): readonly Track[] =>
  (formatIds as readonly string[]).flatMap((formatId) => tracks.get(formatId) ?? []);
