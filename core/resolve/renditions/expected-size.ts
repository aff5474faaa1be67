import { FULL_TAG_BYTES } from '@reelay/seekable-media/id3';
import { isPlain, type Selection, selectedPart } from '../../api/index.ts';
import {
  type ConversionName,
  conversions,
  MP3_BITRATE_KBPS,
  type Mp3BitrateKbps,
  mp3SizeBytes,
  tagText,
} from '../../conversions/index.ts';
import type { Rendition, Resource } from '../../state/index.ts';
import { audioBitrate } from './traits.ts';

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
