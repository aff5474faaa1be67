import { FULL_TAG_BYTES } from '@reelay/seekable-media/tags/id3';
import { isPlain, type Quality, type Selection, selectedPart } from '../../api/index.ts';
import {
  type ConversionName,
  conversions,
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  type Mp3BitrateKbps,
  mp3SizeBytes,
  tagText,
} from '../../conversions/index.ts';
import type { Rendition, Resource, Track } from '../../state/index.ts';
import { audioBitrate, playsEverywhere, shorterSide } from './criteria.ts';
import { FLAWS, flawsSaid, isWhole } from './labels.ts';

type Offer = Pick<Resource, 'renditions'> & SizedResource;

/**
 * The first rendition of a resource, in the order of GetResource, that satisfies a wish; undefined when there is none of its
 * side, such as audio of a silent video, or none that fits into `maxBytes`. A wish filters the renditions that no sounder one
 * precedes: where none of them plays everywhere, they are all considered, and without one up to a height the last is selected.
 * Without video, `best`, `worst` and heights select audio.
 */
export function selectQuality(resource: Offer, selection: Selection): SelectedRendition | undefined {
  const { quality = 'best', codec, maxBytes } = selection;
  const fits = (choice: SelectedRendition) =>
    maxBytes === undefined || (expectedBytes(resource, choice, selection) ?? Number.POSITIVE_INFINITY) <= maxBytes;
  const all = listChoices(resource, selection).filter(fits);
  const tracks = new Map(resource.tracks.map((track) => [track.formatId, track]));
  const compatible = codec === undefined ? all.filter(({ rendition }) => isCompatible(rendition, tracks)) : [];
  return pick(compatible.length > 0 ? compatible : all, quality, tracks);
}

/** Says what of a selection is sent with the fewest bytes; undefined when nothing is. */
export function describeSmallest(resource: Offer, selection: Selection): string | undefined {
  const choices = listChoices(resource, selection);
  const sized = choices.flatMap((choice) => {
    const bytes = expectedBytes(resource, choice, selection);
    return bytes === undefined ? [] : [{ ...choice, bytes }];
  });
  const [smallest] = sized.sort((a, b) => a.bytes - b.bytes);
  if (!smallest) return choices.length > 0 ? 'No size is known' : undefined;
  const { rendition, format, bitrateKbps = MP3_BITRATE_KBPS, bytes } = smallest;
  const converted = format === 'mp3' ? `MP3 of ${bitrateKbps} kbit/s` : format?.toUpperCase();
  return `The smallest is ${converted ?? rendition.label} with ${bytes} bytes`;
}

/** What there is to choose from, best first. */
function listChoices(resource: Offer, selection: Selection): readonly SelectedRendition[] {
  const { quality, format } = selection;
  if (quality === 'mp3') return listMp3(resource, selection);
  const audio = resource.renditions.filter(({ side, isAlternate }) => side === 'audio' && !isAlternate);
  // A video alone would be sent where only audio is wanted, or the first minute of what a conversion has whole.
  if (quality === 'audio' && !audio.some(isWhole)) {
    const converted = listMp3(resource, selection);
    if (audio.length === 0 || (converted[0] && isWhole(converted[0].rendition))) return converted;
  }
  const video = resource.renditions.filter(({ side }) => side === 'video');
  const all = withoutInferior(quality === 'audio' || video.length === 0 ? audio : video);
  return all.flatMap((rendition) => convert(rendition, format, selection));
}

/** The promised conversion; none is promised for sources that are MP3. */
function listMp3({ renditions, mp3 }: Offer, selection: Selection): readonly SelectedRendition[] {
  const { format = 'mp3', bitrateKbps } = selection;
  const carrier = renditions.find(({ id }) => id === mp3?.renditionId);
  if (carrier) return convert(carrier, format, selection);
  const originals = renditions.filter(({ side, fileExtension }) => side === 'audio' && fileExtension === '.mp3');
  const converted = originals.slice(0, 1).flatMap((rendition) => convert(rendition, format, selection));
  const isConverted = bitrateKbps !== undefined || selection.format !== undefined;
  return isConverted ? converted : [...originals.map((rendition) => ({ rendition })), ...converted];
}

/** MP3 in each bit rate that may be what fits. */
function convert(
  rendition: Rendition,
  format: ConversionName | undefined,
  { bitrateKbps, maxBytes }: Selection,
): readonly SelectedRendition[] {
  if (format !== 'mp3') return [{ rendition, format }];
  if (maxBytes === undefined) return [{ rendition, format, bitrateKbps }];
  const rates = MP3_BITRATES_KBPS.filter((rate) => rate <= (bitrateKbps ?? MP3_BITRATE_KBPS));
  return rates.toReversed().map((rate) => ({ rendition, format, bitrateKbps: rate }));
}

type TracksById = ReadonlyMap<string, Track>;

/** @param candidates best first */
function pick(
  candidates: readonly SelectedRendition[],
  quality: Quality,
  tracks: TracksById,
): SelectedRendition | undefined {
  if (quality === 'worst') return candidates.at(-1);
  if (typeof quality === 'string') return candidates[0];
  const isLow = ({ rendition }: SelectedRendition) => (heightOfRendition(rendition, tracks) ?? 0) <= quality.maxHeight;
  return candidates.find(isLow) ?? candidates.at(-1);
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

/** A rendition, and the conversion of it. */
export interface SelectedRendition {
  readonly rendition: Rendition;
  readonly format?: ConversionName;
  /** Of MP3. Absent: the default. */
  readonly bitrateKbps?: Mp3BitrateKbps;
}

export type SizedResource = Pick<Resource, 'tracks'> &
  Partial<Pick<Resource, 'durationSeconds' | 'exactSizes' | 'details' | 'title' | 'author' | 'tag' | 'mp3'>>;

/** Stated bit rates are averages, and a file that is made here has a header of its own. */
const ESTIMATE_MARGIN = 1.05;
/** The bit rate of a part is not that of the whole. */
const PART_MARGIN = 1.25;
const BYTES_PER_KBIT = 125;

/** Bytes of a whole file and of whole MP3, where they are certain. */
export function exactBytes(
  resource: SizedResource,
  { rendition, format, bitrateKbps = MP3_BITRATE_KBPS }: SelectedRendition,
): number | undefined {
  const { id, formatIds } = rendition;
  const { tracks, exactSizes, durationSeconds, title = null, author = null, mp3 } = resource;
  const isPromised = bitrateKbps === MP3_BITRATE_KBPS && mp3?.renditionId === id;
  if (format === 'mp3' && isPromised && mp3.sizeBytes !== undefined) return mp3.sizeBytes;
  if (format === 'mp3' && durationSeconds)
    return mp3SizeBytes(durationSeconds, tagText({ ...resource, title, author }), bitrateKbps);
  const track = tracks.find(({ formatId }) => formatId === formatIds[0]);
  const isExact = formatIds.length === 1 && track?.sizeIsExact;
  return format ? undefined : (exactSizes?.[id] ?? (isExact ? track.sizeBytes : undefined));
}

/**
 * Bytes of what is sent for a rendition, with a margin where they are an estimate. Undefined when too little is known. What
 * `skip` leaves out counts.
 */
export function expectedBytes(
  resource: SizedResource,
  selected: SelectedRendition,
  selection: Selection,
): number | undefined {
  const { durationSeconds } = resource;
  const part = selectedPart(selection, resource);
  const share = part && durationSeconds ? shareOf(part, durationSeconds) : 1;
  const exact = exactBytes(resource, selected);
  const bytes = exact ?? estimatedBytes(resource, selected);
  if (bytes === undefined) return undefined;
  const isExact = exact !== undefined && isPlain(selection);
  const margin = share < 1 ? PART_MARGIN : isExact ? 1 : ESTIMATE_MARGIN;
  return Math.ceil(bytes * share * margin) + (selection.hasTags ? FULL_TAG_BYTES : 0);
}

const shareOf = ({ startSeconds, endSeconds }: NonNullable<Selection['clip']>, durationSeconds: number): number =>
  Math.max(0, Math.min(endSeconds, durationSeconds) - startSeconds) / durationSeconds;

function estimatedBytes(
  { tracks, durationSeconds }: SizedResource,
  { rendition, format }: SelectedRendition,
): number | undefined {
  const { sizeBytes, bitrate, formatIds } = rendition;
  const track = tracks.find(({ formatId, audio }) => audio && (formatIds as readonly string[]).includes(formatId));
  const kbps = format ? (conversions[format].bitrateKbps ?? (track && audioBitrate(track))) : bitrate;
  return (format ? undefined : sizeBytes) ?? (kbps && durationSeconds && kbps * BYTES_PER_KBIT * durationSeconds);
}
