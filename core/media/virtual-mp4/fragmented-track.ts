import {
  parseSampleTable,
  parseTrackHeader,
  SEQUENCE_NUMBER_AT,
  type TrackHeader,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { patchFragment } from './fragment-patch.ts';
import {
  type FragmentIndex,
  type LayoutSource,
  MAX_FRAGMENTS,
  parseIndexedTrack,
  timeFragments,
} from './indexed-source.ts';
import { firstSequence, type LayoutBuilder, layoutTrack, type SourceIndex } from './layout.ts';
import { checkSamples, fragmentSamples, type SampleFragment } from './sample-fragments.ts';

/** A track of a fragmented output. Times in units of `timescale`. */
export interface FragmentedTrack {
  readonly header: TrackHeader;
  /** Units per second. */
  readonly timescale: number;
  readonly durationSeconds: number;
  readonly fragments: readonly OutputFragment[];
}

export interface OutputFragment {
  readonly time: number;
  readonly startSeconds: number;
  readonly duration: number;
  /** Bytes in the output. */
  readonly bytes: number;
  /** `starts_with_SAP`, `SAP_type` and `SAP_delta_time` of a `sidx`. */
  readonly accessPoint: number;
  /** Adds it to the layout. */
  addTo(layout: LayoutBuilder, source: SourceIndex): void;
}

/** `starts_with_SAP` 1, `SAP_type` 1: begins with a sync sample. */
const SYNC_ACCESS_POINT = 0x9000_0000;

/** The fragments that a source has, by its index. @throws UnsupportedMp4 */
export function indexedTrack(source: LayoutSource, index: FragmentIndex, kind: 'vide' | 'soun'): FragmentedTrack {
  const header = parseIndexedTrack(source, kind);
  const timed = timeFragments(index, source.fileBytes);
  checkFirstFragment(header, index);
  const units = timed.reduce((sum, { duration }) => sum + duration, 0);
  return {
    header,
    timescale: index.timescale,
    durationSeconds: header.durationSeconds ?? units / index.timescale,
    fragments: timed.map((fragment) => ({
      ...fragment,
      addTo: (layout, track) => layout.addFragment(track, fragment.offset, fragment.bytes),
    })),
  };
}

/** @throws UnsupportedMp4 when the first fragment could not be patched */
function checkFirstFragment(
  header: TrackHeader,
  { entries: [first], firstMoof: { box: moof, offset } }: FragmentIndex,
): void {
  const sourceEnd = first ? first.offset + first.bytes : 0;
  patchFragment(moof, { track: layoutTrack(header, 1), sourceOffset: offset, offset, sourceEnd, sequence: 1 });
}

/**
 * Fragments made from the sample table of a source that has none.
 * @throws UnsupportedMp4, and Error when the file is truncated
 */
export function sampledTrack(source: LayoutSource, kind: 'vide' | 'soun', id: number): FragmentedTrack {
  const header = parseTrackHeader(source.movie, kind);
  if (header.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  const { timescale } = header;
  const table = parseSampleTable(header.sampleTable);
  const seconds = checkSamples(table, source.fileBytes) / timescale;
  const fragments: OutputFragment[] = [];
  for (const fragment of fragmentSamples(table, id, timescale)) {
    fragments.push(sampledFragment(fragment));
    if (fragments.length > MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
  }
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? seconds) : seconds;
  return { header, timescale, durationSeconds, fragments };
}

function sampledFragment({
  startTime,
  startSeconds,
  duration,
  bytes,
  isSync,
  ranges,
  header,
}: SampleFragment): OutputFragment {
  const moof = header(0);
  return {
    time: startTime,
    startSeconds,
    duration,
    bytes: moof.length + bytes,
    accessPoint: isSync ? SYNC_ACCESS_POINT : 0,
    addTo(layout, source) {
      moof.writeUInt32BE(firstSequence(layout.count), SEQUENCE_NUMBER_AT);
      layout.addOwn(moof);
      for (const { first, bytes: length } of ranges) layout.addSamples(source, first, length);
    },
  };
}
