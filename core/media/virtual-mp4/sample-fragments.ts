import {
  type ByteSpan,
  boxHeader,
  MDAT_HEADER_BYTES,
  NON_SYNC_SAMPLE_FLAGS,
  type SampleCursor,
  type SampleTable,
  SYNC_SAMPLE_FLAGS,
  writeFragment,
} from '../isobmff/index.ts';

/** Samples of one track that are sent together, as one `moof` and one `mdat`. */
export interface TrackFragment {
  /** Decode time of the first sample. */
  readonly startSeconds: number;
  /** Where the samples are in the source, in decode order. */
  readonly ranges: readonly ByteSpan[];
  /** The `moof` with this sequence number, and the header of its `mdat`. */
  readonly header: (sequence: number) => Buffer;
}

/** A fragment made of samples of a table. Times in units of the media. */
export interface SampleFragment extends TrackFragment {
  readonly startTime: number;
  readonly duration: number;
  /** Bytes of all samples. */
  readonly bytes: number;
  /** Whether the first one is a sync sample: not in groups of pictures of more than 8 s. */
  readonly isSync: boolean;
}

/** A fragment ends at the first sync sample after so long … */
const MIN_FRAGMENT_SECONDS = 1;
/** … and at the latest here: a player needs both tracks' samples of one moment. */
const MAX_FRAGMENT_SECONDS = 8;
const MAX_FRAGMENT_BYTES = 16 * 1024 * 1024;
/** Two to four fields of each sample go into the `trun`. */
const MAX_FRAGMENT_FIELDS = 16_384;

/**
 * Checks every sample before the first one is sent, so that only reading can fail later.
 * @param fileBytes size of the file
 * @returns the duration, in units of the media
 * @throws UnsupportedMp4 when samples are not in decode order, and Error when one lies beyond the end: the file is
 *   truncated, and FFmpeg would mux the rest as if it were complete
 */
export const checkSamples = (table: SampleTable, fileBytes: number): number =>
  table.cut({ maxUnits: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY, fileBytes }).duration;

/** The fragments of a track with sample tables, cut at sync samples. */
export function* fragmentSamples(table: SampleTable, trackId: number, timescale: number): Generator<SampleFragment> {
  const sample = table.cursor();
  let hasMore = sample.next();
  while (hasMore) {
    const startTime = sample.decodeTime;
    const { description: sampleDescription, isSync } = sample;
    const ranges: { first: number; bytes: number }[] = [];
    const fields: number[] = [];
    let bytes = 0;
    let endTime = startTime;
    do {
      endTime = sample.decodeTime + sample.duration;
      appendRange(ranges, sample);
      appendFields(fields, sample, table);
      bytes += sample.size;
      hasMore = sample.next();
    } while (
      hasMore &&
      !endsFragment(sample, { startTime, sampleDescription, bytes, fields: fields.length, timescale })
    );
    yield {
      startTime,
      startSeconds: startTime / timescale,
      duration: endTime - startTime,
      bytes,
      isSync,
      ranges,
      header: (sequence) => {
        const { hasSyncTable: hasFlags, hasCompositionOffsets } = table;
        const description = { trackId, startTime, sampleDescription, samples: fields, hasFlags, hasCompositionOffsets };
        return Buffer.concat([writeFragment(description, sequence), boxHeader('mdat', bytes + MDAT_HEADER_BYTES)]);
      },
    };
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
