import {
  BOX_HEADER_BYTES,
  type ByteSpan,
  boxHeader,
  NON_SYNC_SAMPLE_FLAGS,
  parseSampleTable,
  parseTrackHeader,
  type SampleCursor,
  type SampleRun,
  type SampleTable,
  SEQUENCE_NUMBER_AT,
  SYNC_SAMPLE_FLAGS,
  type TrackHeader,
  UnsupportedMp4,
  writeFragment,
} from '../isobmff/index.ts';
import { patchFragment } from './fragment-patch.ts';
import { firstSequence, type LayoutBuilder, toLayoutTrack } from './layout.ts';
import {
  type FragmentIndex,
  type LayoutSource,
  MAX_FRAGMENTS,
  parseIndexedTrack,
  requireFirstMoof,
  type SourceIndex,
  timeFragments,
} from './layout-source.ts';

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
/** A fragment ends at the first sync sample after so long … */
const MIN_FRAGMENT_SECONDS = 1;
/** … and at the latest here: a player needs both tracks' samples of one moment. */
const MAX_FRAGMENT_SECONDS = 8;
const MAX_FRAGMENT_BYTES = 16 * 1024 * 1024;
/** Two to four fields of each sample go into the `trun`. */
const MAX_FRAGMENT_FIELDS = 16_384;

/** @throws UnsupportedMp4, and Error when the file is truncated */
export const fragmentTrack = (source: LayoutSource, kind: 'vide' | 'soun', id: number): FragmentedTrack =>
  source.fragments ? listFragments(source, source.fragments, kind) : makeFragments(source, kind, id);

/** The fragments that a source has, by its index. */
function listFragments(source: LayoutSource, index: FragmentIndex, kind: 'vide' | 'soun'): FragmentedTrack {
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
function checkFirstFragment(header: TrackHeader, { entries: [first], firstMoof }: FragmentIndex): void {
  const { bytes: moof, offset } = requireFirstMoof(firstMoof);
  const sourceEnd = first ? first.offset + first.bytes : 0;
  patchFragment(moof, { track: toLayoutTrack(header, 1), sourceOffset: offset, offset, sourceEnd, sequence: 1 });
}

/**
 * Fragments made from the sample table of a source that has none.
 * @throws UnsupportedMp4, and Error when the file is truncated
 */
function makeFragments(source: LayoutSource, kind: 'vide' | 'soun', trackId: number): FragmentedTrack {
  const { header, table, fragments, durationSeconds } = cutSource(source, kind);
  const { timescale } = header;
  const track = { trackId, timescale, table };
  return { header, timescale, durationSeconds, fragments: fragments.map((each) => toOutputFragment(each, track)) };
}

/** @throws as `makeFragments` */
export function cutSource(source: LayoutSource, kind: 'vide' | 'soun') {
  const header = parseTrackHeader(source.movie, kind);
  if (header.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  const { timescale } = header;
  const table = parseSampleTable(header.sampleTable);
  // Checks every sample, with the size of the file.
  const limits = {
    maxUnits: Number.POSITIVE_INFINITY,
    maxBytes: Number.POSITIVE_INFINITY,
    fileBytes: source.fileBytes,
  };
  const seconds = table.cut(limits).duration / timescale;
  const fragments: CutFragment[] = [];
  for (const fragment of cutFragments(table, timescale)) {
    fragments.push(fragment);
    if (fragments.length > MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
  }
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? seconds) : seconds;
  return { header, table, fragments, durationSeconds };
}

/** A fragment made of samples of a table. Times in units of the track. */
export interface CutFragment {
  readonly time: number;
  readonly duration: number;
  readonly accessPoint: number;
  /** Sample description index, from 1. */
  readonly description: number;
  readonly runs: readonly SampleRun[];
}

/** The samples of a table as fragments, which begin with sync samples where these are near enough to each other. */
function* cutFragments(table: SampleTable, timescale: number): Generator<CutFragment> {
  const sample = table.cursor();
  let hasMore = sample.next();
  while (hasMore) {
    const time = sample.decodeTime;
    const { description, isSync } = sample;
    const runs: { first: number; bytes: number; fields: number[] }[] = [];
    let [bytes, fields, endTime] = [0, 0, time];
    do {
      endTime = sample.decodeTime + sample.duration;
      const last = runs.at(-1);
      const run =
        last && last.first + last.bytes === sample.offset ? last : { first: sample.offset, bytes: 0, fields: [] };
      if (run !== last) runs.push(run);
      run.bytes += sample.size;
      const before = run.fields.length;
      appendFields(run.fields, sample, table);
      fields += run.fields.length - before;
      bytes += sample.size;
      hasMore = sample.next();
    } while (
      hasMore &&
      !endsFragment(sample, { startTime: time, sampleDescription: description, bytes, fields, timescale })
    );
    yield { time, duration: endTime - time, accessPoint: isSync ? SYNC_ACCESS_POINT : 0, description, runs };
  }
}

function toOutputFragment(
  { time, duration, accessPoint, description: sampleDescription, runs }: CutFragment,
  { trackId, timescale, table }: { readonly trackId: number; readonly timescale: number; readonly table: SampleTable },
): OutputFragment {
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  const samples = runs.flatMap(({ fields }) => fields);
  const { hasSyncTable: hasFlags, hasCompositionOffsets } = table;
  const fragment = { trackId, startTime: time, sampleDescription, samples, hasFlags, hasCompositionOffsets };
  const moof = Buffer.concat([writeFragment(fragment), boxHeader('mdat', bytes + BOX_HEADER_BYTES)]);
  return {
    time,
    duration,
    accessPoint,
    startSeconds: time / timescale,
    bytes: moof.length + bytes,
    addTo: (layout, source) => addSamples(layout, source, moof, runs),
  };
}

/** @param moof the whole box, and the header of its `mdat` */
function addSamples(layout: LayoutBuilder, source: SourceIndex, moof: Buffer, ranges: readonly ByteSpan[]): void {
  moof.writeUInt32BE(firstSequence(layout.count), SEQUENCE_NUMBER_AT);
  layout.addOwn(moof);
  for (const { first, bytes } of ranges) layout.addSamples(source, first, bytes);
}

interface OpenFragment {
  readonly startTime: number;
  readonly sampleDescription: number;
  readonly bytes: number;
  readonly fields: number;
  readonly timescale: number;
}

/** Whether the fragment ends before this sample. */
function endsFragment({ decodeTime, isSync, description, size }: SampleCursor, fragment: OpenFragment): boolean {
  const seconds = (decodeTime - fragment.startTime) / fragment.timescale;
  if (description !== fragment.sampleDescription || (isSync && seconds >= MIN_FRAGMENT_SECONDS)) return true;
  return (
    seconds >= MAX_FRAGMENT_SECONDS ||
    fragment.bytes + size > MAX_FRAGMENT_BYTES ||
    fragment.fields >= MAX_FRAGMENT_FIELDS
  );
}

/** In the order that `FragmentDescription.samples` has. */
function appendFields(fields: number[], sample: SampleCursor, { hasSyncTable, hasCompositionOffsets }: SampleTable) {
  fields.push(sample.duration, sample.size);
  if (hasSyncTable) fields.push(sample.isSync ? SYNC_SAMPLE_FLAGS : NON_SYNC_SAMPLE_FLAGS);
  if (hasCompositionOffsets) fields.push(sample.compositionOffset);
}
