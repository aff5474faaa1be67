import {
  NON_SYNC_SAMPLE_FLAGS,
  parseSampleTable,
  parseTrackHeader,
  type SampleCursor,
  type SampleRun,
  type SampleTable,
  SYNC_SAMPLE_FLAGS,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { type FileHeaders, MAX_FRAGMENTS } from './layout-source.ts';

/** `starts_with_SAP` 1, `SAP_type` 1: begins with a sync sample. */
const SYNC_ACCESS_POINT = 0x9000_0000;
/** A fragment ends at the first sync sample after so long … */
const MIN_FRAGMENT_SECONDS = 1;
/** … and at the latest here: a player needs both tracks' samples of one moment. */
const MAX_FRAGMENT_SECONDS = 8;
const MAX_FRAGMENT_BYTES = 16 * 1024 * 1024;
/** Two to four fields of each sample go into the `trun`. */
const MAX_FRAGMENT_FIELDS = 16_384;

/** The samples of a table as fragments. @throws UnsupportedMp4, and Error when the file is truncated */
export function cutSource(source: FileHeaders, kind: 'vide' | 'soun') {
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
  table.cut(limits);
  const fragments: CutFragment[] = [];
  for (const fragment of cutFragments(table, timescale)) {
    fragments.push(fragment);
    if (fragments.length > MAX_FRAGMENTS) throw new UnsupportedMp4('Too many fragments');
  }
  return { header, table, fragments };
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

/** In the order that `SampleRun.fields` has. */
function appendFields(fields: number[], sample: SampleCursor, { hasSyncTable, hasCompositionOffsets }: SampleTable) {
  fields.push(sample.duration, sample.size);
  if (hasSyncTable) fields.push(sample.isSync ? SYNC_SAMPLE_FLAGS : NON_SYNC_SAMPLE_FLAGS);
  if (hasCompositionOffsets) fields.push(sample.compositionOffset);
}
