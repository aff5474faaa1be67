import {
  type Edit,
  measureFragment,
  parseFragmentSamples,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  writeFileFragment,
} from '../isobmff/index.ts';
import { cutSource } from './fragmented-track.ts';
import { type FragmentIndex, type LayoutSource, type SourceIndex, timeFragments } from './layout-source.ts';

/** A track whose samples go into places. */
export interface PlaceSource {
  readonly source: SourceIndex;
  readonly header: TrackHeader;
  /** What the edit list hides at the beginning, in seconds; less than 0: the media begins so much later. */
  readonly hiddenSeconds: number;
  /** Duration of the first sample; 0: unknown. */
  readonly sampleSeconds: number;
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
  const { startTime, ranges } = measureFragment(firstMoof, header.id, fragmentDefaults);
  const end = first ? first.offset + first.bytes : 0;
  const isInside = ranges.every((span) => span.first >= firstMoof.offset && span.first + span.bytes <= end);
  if (ranges.length === 0 || !isInside) throw new UnsupportedMp4('The first fragment has no samples of the track');
  const [sample] = parseFragmentSamples(firstMoof, header.id, fragmentDefaults);
  const scale = header.timescale / index.timescale;
  const fragments = timed.map(
    ({ offset, bytes, time, duration, accessPoint }): SourceFragment => ({
      offset,
      bytes,
      time: startTime + (time - (first?.time ?? 0)) * scale,
      duration: duration * scale,
      accessPoint,
      placeBytes: bytes,
    }),
  );
  return { header, fragments, sampleSeconds: (sample?.duration ?? 0) / header.timescale };
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
  return { header, fragments, sampleSeconds: 0 };
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
