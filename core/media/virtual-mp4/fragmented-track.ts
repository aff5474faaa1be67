import {
  BOX_HEADER_BYTES,
  type ByteSpan,
  boxHeader,
  NON_SYNC_SAMPLE_FLAGS,
  parseSampleTable,
  parseTrackHeader,
  type SampleCursor,
  type SampleTable,
  SEQUENCE_NUMBER_AT,
  SYNC_SAMPLE_FLAGS,
  type TrackHeader,
  UnsupportedMp4,
  writeFragment,
} from '../isobmff/index.ts';
import { patchFragment } from './fragment-patch.ts';
import { firstSequence, type LayoutBuilder, type SourceIndex, toLayoutTrack } from './layout.ts';
import {
  type FragmentIndex,
  type LayoutSource,
  MAX_FRAGMENTS,
  parseIndexedTrack,
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

/** The fragments that a source has, by its index. @throws UnsupportedMp4 */
export function listFragments(source: LayoutSource, index: FragmentIndex, kind: 'vide' | 'soun'): FragmentedTrack {
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
  { entries: [first], firstMoof: { bytes: moof, offset } }: FragmentIndex,
): void {
  const sourceEnd = first ? first.offset + first.bytes : 0;
  patchFragment(moof, { track: toLayoutTrack(header, 1), sourceOffset: offset, offset, sourceEnd, sequence: 1 });
}

/**
 * Fragments made from the sample table of a source that has none.
 * @throws UnsupportedMp4, and Error when the file is truncated
 */
export function makeFragments(source: LayoutSource, kind: 'vide' | 'soun', id: number): FragmentedTrack {
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
  const fragments: OutputFragment[] = [];
  for (const fragment of cutFragments(table, id, timescale)) {
    fragments.push(fragment);
    if (fragments.length > MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
  }
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? seconds) : seconds;
  return { header, timescale, durationSeconds, fragments };
}

/** The samples of a table as fragments, which begin with sync samples where these are near enough to each other. */
function* cutFragments(table: SampleTable, trackId: number, timescale: number): Generator<OutputFragment> {
  const { hasSyncTable: hasFlags, hasCompositionOffsets } = table;
  const sample = table.cursor();
  let hasMore = sample.next();
  while (hasMore) {
    const startTime = sample.decodeTime;
    const { description: sampleDescription, isSync } = sample;
    const ranges: { first: number; bytes: number }[] = [];
    const samples: number[] = [];
    let bytes = 0;
    let endTime = startTime;
    do {
      endTime = sample.decodeTime + sample.duration;
      appendRange(ranges, sample);
      appendFields(samples, sample, table);
      bytes += sample.size;
      hasMore = sample.next();
    } while (
      hasMore &&
      !endsFragment(sample, { startTime, sampleDescription, bytes, fields: samples.length, timescale })
    );
    const description = { trackId, startTime, sampleDescription, samples, hasFlags, hasCompositionOffsets };
    const moof = Buffer.concat([writeFragment(description), boxHeader('mdat', bytes + BOX_HEADER_BYTES)]);
    yield {
      time: startTime,
      startSeconds: startTime / timescale,
      duration: endTime - startTime,
      bytes: moof.length + bytes,
      accessPoint: isSync ? SYNC_ACCESS_POINT : 0,
      addTo: (layout, source) => addSamples(layout, source, moof, ranges),
    };
  }
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

function appendRange(ranges: { first: number; bytes: number }[], { offset, size }: SampleCursor): void {
  const last = ranges.at(-1);
  if (last && last.first + last.bytes === offset) last.bytes += size;
  else if (size > 0) ranges.push({ first: offset, bytes: size });
}

/** In the order that `FragmentDescription.samples` has. */
function appendFields(fields: number[], sample: SampleCursor, { hasSyncTable, hasCompositionOffsets }: SampleTable) {
  fields.push(sample.duration, sample.size);
  if (hasSyncTable) fields.push(sample.isSync ? SYNC_SAMPLE_FLAGS : NON_SYNC_SAMPLE_FLAGS);
  if (hasCompositionOffsets) fields.push(sample.compositionOffset);
}
