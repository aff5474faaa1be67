import {
  type Edit,
  longestDelay,
  type MovieFragment,
  measureFragment,
  parseFragmentSamples,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  writeFileFragment,
} from '../isobmff/index.ts';
import { cutSource } from './cut-table.ts';
import {
  type FragmentEntry,
  type FragmentIndex,
  type LayoutSource,
  type SourceIndex,
  timeFragments,
} from './layout-source.ts';

/** A track whose samples go into places. */
export interface PlaceSource {
  readonly source: SourceIndex;
  readonly header: TrackHeader;
  /** What the edit list hides at the beginning, in seconds; less than 0: the media begins so much later. */
  readonly hiddenSeconds: number;
  /**
   * How much earlier than its index says a fragment is decoded, for the case that it begins an open group of pictures: those that follow
   * its first one may be shown before it. The index has the time of either.
   */
  readonly leadSeconds: number;
  readonly fragments: readonly SourceFragment[];
}

/** Samples that are read together. Times in units of the track. */
export interface SourceFragment {
  /** Where it is in its source. */
  readonly offset: number;
  readonly bytes: number;
  /** Its `moof`, where the source has none. */
  readonly moof?: Buffer;
  /** Decode time of its first sample. */
  readonly time: number;
  readonly duration: number;
  /** `starts_with_SAP`, `SAP_type` and `SAP_delta_time` of a `sidx`. */
  readonly accessPoint: number;
  /** Bytes that its samples and their fields take at most. */
  readonly placeBytes: number;
}

/** `SAP_type` (§8.16.3) of a sync sample before which nothing is shown that follows it. Many writers state none. */
const CLOSED_ACCESS_POINT = 1;
/** Fragments that are larger are not held in memory. */
const MAX_FRAGMENT_BYTES = 32 * 1024 * 1024;

/** @throws UnsupportedMp4, and Error when the file is truncated */
export function readPlaceSource(layoutSource: LayoutSource, source: SourceIndex, kind: 'vide' | 'soun'): PlaceSource {
  const { header, ...read } = layoutSource.fragments
    ? readFragments(layoutSource, layoutSource.fragments, kind)
    : cutTable(layoutSource, kind);
  if (read.fragments.some(({ bytes }) => bytes > MAX_FRAGMENT_BYTES)) throw new UnsupportedMp4('Fragment too large');
  return { source, header, hiddenSeconds: hiddenSeconds(header), ...read };
}

/** The fragments of a file by its index. Their decode times follow from that of the first one, which has been read. */
function readFragments({ movie, fileBytes }: LayoutSource, index: FragmentIndex, kind: 'vide' | 'soun') {
  const header = parseTrackHeader(movie, kind);
  const { fragmentDefaults } = header;
  if (!fragmentDefaults) throw new UnsupportedMp4('An index without fragments');
  const timed = timeFragments(index, fileBytes);
  const [first] = timed;
  const { firstMoof } = index;
  const scale = header.timescale / index.timescale;
  const startTime = firstMoof ? checkFirst(header, firstMoof, first) : (first?.time ?? 0) * scale;
  const samples =
    firstMoof && !timed.every(isClosed) ? [...parseFragmentSamples(firstMoof, header.id, fragmentDefaults)] : [];
  const delay = longestDelay(samples) - (samples[0]?.compositionOffset ?? 0);
  // The first fragment ends so much earlier: a unit is left for each of its samples.
  const lead = Math.max(0, Math.min(delay, (first?.duration ?? 0) * scale - samples.length));
  // Samples that are decoded at other times each have a duration.
  const fieldBytes = (units: number) => (lead > 0 ? 4 * Math.ceil(units / (samples[0]?.duration || 1)) : 0);
  const fragments = timed.map(
    ({ offset, bytes, time, duration, accessPoint }): SourceFragment => ({
      offset,
      bytes,
      time: startTime + (time - (first?.time ?? 0)) * scale,
      duration: duration * scale,
      accessPoint,
      placeBytes: bytes + fieldBytes(duration * scale),
    }),
  );
  return { header, fragments, leadSeconds: lead / header.timescale };
}

/** Whether the index says that a fragment can be decoded by itself as a whole. */
export const isClosed = ({ accessPoint }: Pick<FragmentEntry, 'accessPoint'>): boolean =>
  (accessPoint >>> 28) % 8 === CLOSED_ACCESS_POINT;

/** @returns when the first sample of the track is decoded @throws UnsupportedMp4 when it has none in the first fragment */
function checkFirst(
  { id, fragmentDefaults = Buffer.alloc(16) }: TrackHeader,
  firstMoof: MovieFragment,
  first: FragmentEntry | undefined,
): number {
  const { startTime, ranges } = measureFragment(firstMoof, id, fragmentDefaults);
  const end = first ? first.offset + first.bytes : 0;
  const isInside = ranges.every((span) => span.first >= firstMoof.offset && span.first + span.bytes <= end);
  if (ranges.length === 0 || !isInside) throw new UnsupportedMp4('The first fragment has no samples of the track');
  return startTime;
}

/** Of a file with sample tables. */
function cutTable(layoutSource: LayoutSource, kind: 'vide' | 'soun') {
  const { header, table, fragments: cut } = cutSource(layoutSource, kind);
  const { hasSyncTable: hasFlags, hasCompositionOffsets } = table;
  const fragments = cut.map(({ time, duration, accessPoint, description: sampleDescription, runs }): SourceFragment => {
    const moof = writeFileFragment({
      trackId: header.id,
      startTime: time,
      sampleDescription,
      runs,
      hasFlags,
      hasCompositionOffsets,
    });
    const offset = runs[0]?.first ?? 0;
    const last = runs.at(-1);
    const bytes = last ? last.first + last.bytes - offset : 0;
    const placeBytes = moof.length + runs.reduce((sum, run) => sum + run.bytes, 0);
    return { offset, bytes, moof, time, duration, accessPoint, placeBytes };
  });
  return { header, fragments, leadSeconds: 0 };
}

/** @throws UnsupportedMp4 for an edit list that presents more than one part */
function hiddenSeconds({ edits, movieTimescale, timescale }: TrackHeader): number {
  const isEmpty = ({ mediaTime }: Edit) => mediaTime < 0n;
  const firstMedia = edits.findIndex((edit) => !isEmpty(edit));
  if (firstMedia < 0) return 0;
  if (edits.length > firstMedia + 1) throw new UnsupportedMp4('Several edits');
  const delay = edits.slice(0, firstMedia).reduce((sum, { duration }) => sum + duration, 0) / movieTimescale;
  return Number(edits[firstMedia]?.mediaTime ?? 0) / timescale - delay;
}
