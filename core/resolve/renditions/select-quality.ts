import type { Quality, Selection } from '../../api/index.ts';
import type { ConversionName } from '../../conversions/index.ts';
import type { Rendition, Resource, Track } from '../../state/index.ts';
import { FLAWS, flawsSaid, isWhole } from './labels.ts';
import { playsEverywhere, shorterSide } from './traits.ts';

/** A rendition, and the conversion of it. */
export interface SelectedRendition {
  readonly rendition: Rendition;
  readonly format?: ConversionName;
}

type Offer = Pick<Resource, 'renditions' | 'tracks' | 'mp3'>;

/**
 * The first rendition of a resource, in the order of GetResource, that satisfies a wish; undefined when there is none of its
 * side, such as audio of a silent video. A wish filters the renditions that no sounder one precedes: where none of them
 * plays everywhere, they are all considered, and without one up to a height the last is selected. Without video, `best`,
 * `worst` and heights select audio.
 */
export function selectQuality(
  resource: Offer,
  { quality = 'best', codec }: Pick<Selection, 'quality' | 'codec'>,
): SelectedRendition | undefined {
  if (quality === 'mp3') return selectMp3(resource);
  const audio = resource.renditions.filter(({ side, isAlternate }) => side === 'audio' && !isAlternate);
  // A video alone would be sent where only audio is wanted, or the first minute of what a conversion has whole.
  if (quality === 'audio' && !audio.some(isWhole)) {
    const converted = selectMp3(resource);
    if (audio.length === 0 || (converted && isWhole(converted.rendition))) return converted;
  }
  const video = resource.renditions.filter(({ side }) => side === 'video');
  const all = withoutInferior(quality === 'audio' || video.length === 0 ? audio : video);
  const tracks = new Map(resource.tracks.map((track) => [track.formatId, track]));
  const compatible = codec === undefined ? all.filter((rendition) => isCompatible(rendition, tracks)) : [];
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
  const fits = (rendition: Rendition) => (heightOfRendition(rendition, tracks) ?? 0) <= quality.maxHeight;
  return candidates.find(fits) ?? candidates.at(-1);
}

const isCompatible = (rendition: Rendition, tracks: TracksById): boolean =>
  playsEverywhere(tracksOf(rendition, tracks), rendition.fileExtension, heightOfRendition(rendition, tracks));

/** As in labels: vertical video compares by its width. */
const heightOfRendition = (rendition: Rendition, tracks: TracksById): number | undefined =>
  tracksOf(rendition, tracks).map(shorterSide).find(Boolean) ?? rendition.height;

const tracksOf = ({ formatIds }: Rendition, tracks: TracksById): readonly Track[] =>
  (formatIds as readonly string[]).flatMap((formatId) => tracks.get(formatId) ?? []);

type Described = Pick<Rendition, 'flaws' | 'versions' | 'description'>;

/** A flaw outweighs all those after it together, as criteria do. The least is a compressed dynamic range. */
export function severityOf(rendition: Described): number {
  const { flaws = flawsSaid(rendition), versions = [] } = rendition;
  const applies = [...FLAWS.map((flaw) => flaws.includes(flaw)), versions.includes('drc')];
  return applies.reduce((sum, isFlawed) => sum * 2 + Number(isFlawed), 0);
}

/**
 * Those among which a wish may select: none that is more flawed than one that ranks above it.
 * @param ranked best first
 */
export function withoutInferior<Ranked extends Described>(ranked: readonly Ranked[]): Ranked[] {
  let least = Number.POSITIVE_INFINITY;
  return ranked.filter((each) => {
    const severity = severityOf(each);
    const isSound = severity <= least;
    least = Math.min(least, severity);
    return isSound;
  });
}
