import {
  DATA_INFORMATION,
  type Edit,
  fullBox,
  longestDelay,
  type MovieFragment,
  measureFragment,
  parseFragmentSamples,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  writeFileFragment,
} from '../isobmff/index.ts';
import { entriesOf, kindsOf, type SegmentTable, startSecondsOf } from '../segment-file/index.ts';
import { cutSource } from './cut-table.ts';
import {
  type FileHeaders,
  type FragmentEntry,
  type FragmentIndex,
  isList,
  type LayoutSource,
  type SourceIndex,
  timeFragments,
} from './layout-source.ts';

/** A track whose samples go into subsegments. */
export interface TrackFragments {
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
  /**
   * When the first sample of a list of segments is shown or heard, on their clock, in seconds: the times of its fragments count from then.
   * Absent: a file, whose times count from 0.
   */
  readonly clockSeconds?: number;
}

/** Samples that are read together. Times in units of the track. */
export interface SourceFragment {
  /** Where it is in its source; that of a list is the segment with its index. */
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
  readonly maxBytes: number;
}

/** `SAP_type` (§8.16.3) of a sync sample before which nothing is shown that follows it. Many writers state none. */
const CLOSED_ACCESS_POINT = 1;
/** Fragments that are larger are not held in memory. */
const MAX_FRAGMENT_BYTES = 32 * 1024 * 1024;

/** @throws UnsupportedMp4, and Error when the file is truncated */
export function readTrackFragments(
  layoutSource: LayoutSource,
  source: SourceIndex,
  kind: 'vide' | 'soun',
): TrackFragments {
  if (isList(layoutSource)) return { source, ...listFragments(layoutSource.table, kind) };
  const { header, ...read } = layoutSource.fragments
    ? readFragments(layoutSource, layoutSource.fragments, kind)
    : cutTable(layoutSource, kind);
  if (read.fragments.some(({ bytes }) => bytes > MAX_FRAGMENT_BYTES)) throw new UnsupportedMp4('Fragment too large');
  return { source, header, hiddenSeconds: hiddenSeconds(header), ...read };
}

/** Units per second of the duration of the movie. */
const MOVIE_TIMESCALE = 1000;
/** `und` in three times five bits. */
const UNDETERMINED = Buffer.from([0x55, 0xc4, 0, 0]);
/** `starts_with_SAP` with `SAP_type` 1. */
const SYNC_ACCESS_POINT = 0x9000_0000;

/** The segments of a list, each of which is read as a whole: they begin at the times of their table. */
function listFragments(table: SegmentTable, kind: 'vide' | 'soun'): Omit<TrackFragments, 'source'> {
  const { entries, startTime, endTime } = table;
  const id = kindsOf(table).indexOf(kind) + 1;
  if (id === 0) throw new UnsupportedMp4('No such track');
  const times = [...entries.map(({ time }) => time), endTime].map((time) => Math.max(0, time - startTime));
  const fragments = entries.map(
    ({ bytes, startsWithSync }, index): SourceFragment => ({
      offset: 0,
      bytes,
      time: times[index] ?? 0,
      duration: Math.max(0, (times[index + 1] ?? 0) - (times[index] ?? 0)),
      accessPoint: startsWithSync ? SYNC_ACCESS_POINT : 0,
      maxBytes: bytes,
    }),
  );
  const header = listHeader(table, kind, id);
  return { header, hiddenSeconds: 0, leadSeconds: 0, fragments, clockSeconds: startSecondsOf(table) };
}

/** The header that a track of a list would have in a file of its own. */
function listHeader({ encodings, timescale }: SegmentTable, kind: 'vide' | 'soun', id: number): TrackHeader {
  const entries = entriesOf(encodings, kind);
  const [track] = encodings.flatMap(({ tracks }) => tracks.filter((each) => each.kind === kind));
  const handler = [u32(0), Buffer.from(kind, 'latin1'), Buffer.alloc(13)];
  const mediaHeader = kind === 'vide' ? fullBox('vmhd', 0, 1, Buffer.alloc(8)) : fullBox('smhd', 0, 0, Buffer.alloc(4));
  return {
    id,
    movieTimescale: MOVIE_TIMESCALE,
    timescale,
    durationSeconds: undefined,
    presentation: track?.presentation ?? Buffer.alloc(60),
    language: UNDETERMINED,
    edits: [],
    media: [fullBox('hdlr', 0, 0, ...handler)],
    mediaInformation: [mediaHeader, DATA_INFORMATION],
    sampleDescriptions: fullBox('stsd', 0, 0, u32(entries.length), ...entries),
    sampleTable: Buffer.alloc(0),
    fragmentDefaults: undefined,
  };
}

/** The fragments of a file by its index. Their decode times follow from that of the first one, which has been read. */
function readFragments({ movie, fileBytes }: FileHeaders, index: FragmentIndex, kind: 'vide' | 'soun') {
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
      maxBytes: bytes + fieldBytes(duration * scale),
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
function cutTable(layoutSource: FileHeaders, kind: 'vide' | 'soun') {
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
    const maxBytes = moof.length + runs.reduce((sum, run) => sum + run.bytes, 0);
    return { offset, bytes, moof, time, duration, accessPoint, maxBytes };
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
