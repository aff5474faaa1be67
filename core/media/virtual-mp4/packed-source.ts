import { declaredSamples, indexMovie } from '../isobmff/index.ts';
import type { FragmentEntry, FragmentIndex, LayoutSource } from './indexed-source.ts';

/** A source in a form that can be cloned fast. */
export interface PackedSource extends Pick<LayoutSource, 'moovOffset' | 'fileBytes'> {
  /** The content of `moov`. */
  readonly moov: Buffer;
  readonly fragments?: PackedFragments;
}

interface PackedFragments extends Omit<FragmentIndex, 'entries'> {
  /** The fields of all entries; a time that is absent is NaN. */
  readonly entries: Float64Array;
}

/** Fields of an entry. */
const FIELDS = 5;
/** Bytes of the tables of a sample, of which a short table may declare millions. */
const SAMPLE_BYTES = 4;

export const packSource = ({ movie, moovOffset, fileBytes, fragments }: LayoutSource): PackedSource => ({
  moov: movie.bytes,
  moovOffset,
  fileBytes,
  fragments: fragments && { ...fragments, entries: packEntries(fragments.entries) },
});

export const unpackSource = ({ moov, moovOffset, fileBytes, fragments }: PackedSource): LayoutSource => ({
  movie: indexMovie(moov),
  moovOffset,
  fileBytes,
  fragments: fragments && { ...fragments, entries: unpackEntries(fragments.entries) },
});

/** Bytes that the work on a source is proportional to. @throws UnsupportedMp4 when the movie has too many boxes */
export const sourceWeight = ({ moov, fragments }: PackedSource): number =>
  moov.length +
  (fragments ? fragments.entries.byteLength + fragments.firstMoof.box.length : 0) +
  declaredSamples(indexMovie(moov)) * SAMPLE_BYTES;

function packEntries(entries: readonly FragmentEntry[]): Float64Array {
  const packed = new Float64Array(entries.length * FIELDS);
  for (const [index, { offset, bytes, duration, accessPoint, time = Number.NaN }] of entries.entries()) {
    packed.set([offset, bytes, duration, accessPoint, time], index * FIELDS);
  }
  return packed;
}

const unpackEntries = (packed: Float64Array): readonly FragmentEntry[] =>
  Array.from({ length: packed.length / FIELDS }, (_, index) => {
    const [offset = 0, bytes = 0, duration = 0, accessPoint = 0, time] = packed.subarray(
      index * FIELDS,
      (index + 1) * FIELDS,
    );
    return { offset, bytes, duration, accessPoint, ...(Number.isNaN(time) ? {} : { time }) };
  });
