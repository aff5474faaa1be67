import {
  countDeclaredSamples,
  countRunSamples,
  type IndexedBox,
  indexMovie,
  listTrackKinds,
  type MovieFragment,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { type Chapter, chaptersWithin } from '../parts/chapters.ts';
import type { Span } from '../parts/skipping.ts';
import { audioTable, kindsOf, type SegmentTable, unpackTable } from '../segment-file/index.ts';
import { chapterTrack, clipText, type TextTrack, type TimedText, timedText } from '../text/text-track.ts';
import type { SoundName } from './name-sound.ts';

/** Index of a source, from 0: of a pair, 0 has the video, 1 the audio; those of further languages follow. */
export type SourceIndex = number;

/** What a layout needs of a source. */
export type LayoutSource = FileHeaders | ListTable;

/** A complete list of segments. */
export interface ListTable {
  readonly table: SegmentTable;
  /** Packed, of the video of its first segment, for its frame rate. Absent: not read, or none. */
  readonly firstSamples?: Float64Array | undefined;
}

export const isList = (source: LayoutSource): source is ListTable => 'table' in source;

/** The kinds of its tracks, as far as they are read, each once. */
export const listKinds = (source: LayoutSource): readonly ('vide' | 'soun')[] => {
  const present = isList(source) ? kindsOf(source.table) : listTrackKinds(source.movie);
  return (['vide', 'soun'] as const).filter((kind) => present.includes(kind));
};

/** The headers of a file. */
export interface FileHeaders {
  /** The index of the content of its `moov`. */
  readonly movie: IndexedBox;
  /** Where that content begins in the file. Undefined: the tables in it cannot be read again. */
  readonly moovOffset?: number;
  readonly fileBytes: number;
  /** Fragments in the order of the file; undefined: the file is not fragmented. */
  readonly fragments?: FragmentIndex;
}

/** The fragments of a file by its `sidx`, in the order of the file. */
export interface FragmentIndex {
  /** Units per second. */
  readonly timescale: number;
  /** Units: earliest presentation time of the first fragment. */
  readonly startTime: number;
  readonly entries: readonly FragmentEntry[];
  /**
   * The first one of the file, which is read to check the index. Absent: the index is known to be right, and that each fragment begins
   * with a sync sample before which nothing is shown that follows it.
   */
  readonly firstMoof?: MovieFragment | undefined;
}

export interface FragmentEntry {
  /** Offset in the file. */
  readonly offset: number;
  readonly bytes: number;
  /** Units. */
  readonly duration: number;
  /** `starts_with_SAP`, `SAP_type` and `SAP_delta_time` of the `sidx`. */
  readonly accessPoint: number;
  /** Units; present where an index declares it. Otherwise the fragment begins where the one before it ends. */
  readonly time?: number;
}

/** A fragment with its place on the timeline. */
export interface TimedFragment extends FragmentEntry {
  /** Units. */
  readonly time: number;
  readonly startSeconds: number;
}

/** Headers of `moof` and `mdat`. */
const MIN_FRAGMENT_BYTES = 16;

/** Fragments of a presentation of 36 hours in pieces of 2 s: also the limit of one `sidx`. */
export const MAX_FRAGMENTS = 0xffff;

/** @throws UnsupportedMp4 when the fragments are empty, too many, or reach beyond the file */
export function timeFragments(index: FragmentIndex, fileBytes: number): readonly TimedFragment[] {
  const { entries, timescale, startTime } = index;
  if (entries.length === 0 || entries.length > MAX_FRAGMENTS || timescale === 0) {
    throw new UnsupportedMp4('Unusable segment index');
  }
  let time = startTime;
  let end = 0;
  return entries.map((entry, index) => {
    time = entry.time ?? time;
    const nextTime = entries[index + 1]?.time ?? time + entry.duration;
    const fragment = { ...entry, time, startSeconds: time / timescale, duration: nextTime - time };
    time = nextTime;
    const isInOrder = entry.offset >= end;
    end = entry.offset + entry.bytes;
    if (
      !isInOrder ||
      entry.bytes < MIN_FRAGMENT_BYTES ||
      fragment.duration < 0 ||
      !Number.isSafeInteger(time) ||
      !(end <= fileBytes)
    ) {
      throw new UnsupportedMp4('Segment index does not fit its file');
    }
    return fragment;
  });
}

/** What a layout has besides the tracks of its sources: metadata, and further tracks of text. */
export interface LayoutExtras {
  /** `udta`. */
  readonly tags?: Buffer;
  /** Subtitles of the whole presentation. */
  readonly text?: TimedText;
  /** In ascending order, for the whole presentation. */
  readonly chapters?: readonly Chapter[];
  /** What the tracks of audio are called, in their order. Absent: as in their sources. */
  readonly sounds?: readonly SoundName[];
  /** When it was recorded, epoch milliseconds. @default unknown */
  readonly recordedAtMs?: number | undefined;
}

/**
 * The text tracks of a presentation, or of a part of it.
 * @param seconds of the part; infinite: unknown
 * @param parts of the whole that follow each other, in order. @default the whole
 * @throws TextTooLarge
 */
export function textTracks(
  { text, chapters }: LayoutExtras,
  seconds: number,
  parts?: readonly Span[],
): readonly TextTrack[] {
  const subtitles = text && timedText(parts ? clipText(text, parts) : text, seconds);
  const shown = chapters && (parts ? chaptersWithin(chapters, parts) : chapters);
  const within = shown?.filter(({ startSeconds }) => startSeconds < seconds);
  const marks = within && chapterTrack(within, seconds);
  return [subtitles, marks].filter((track) => track !== undefined);
}

/** A source in a form that can be cloned fast. */
export type PackedSource = PackedHeaders | PackedList;

export interface PackedList extends Pick<ListTable, 'firstSamples'> {
  /** As `packTable` has made it. */
  readonly table: Buffer;
  /** Its audio alone. @default all tracks */
  readonly isAudioAlone?: boolean | undefined;
}

export interface PackedHeaders extends Pick<FileHeaders, 'moovOffset' | 'fileBytes'> {
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
/** A segment takes some bytes of a packed table. */
const TABLE_FACTOR = 8;

export const packSource = ({ movie, moovOffset, fileBytes, fragments }: FileHeaders): PackedHeaders => ({
  moov: movie.bytes,
  moovOffset,
  fileBytes,
  fragments: fragments && { ...fragments, entries: packEntries(fragments.entries) },
});

/** @throws UnsupportedMp4 for the audio of a list whose sizes are not known */
export function unpackSource(packed: PackedSource): LayoutSource {
  if ('moov' in packed) return unpackHeaders(packed);
  const table = unpackTable(packed.table);
  const wanted = packed.isAudioAlone ? audioTable(table) : table;
  if (!wanted) throw new UnsupportedMp4('Audio of unknown size');
  return { table: wanted, firstSamples: packed.firstSamples };
}

export const unpackHeaders = ({ moov, moovOffset, fileBytes, fragments }: PackedHeaders): FileHeaders => ({
  movie: indexMovie(moov),
  moovOffset,
  fileBytes,
  fragments: fragments && { ...fragments, entries: unpackEntries(fragments.entries) },
});

/** Bytes that the work on a source is proportional to. @throws UnsupportedMp4 when the movie has too many boxes */
export function weighSource(packed: PackedSource): number {
  if (!('moov' in packed)) return packed.table.length * TABLE_FACTOR;
  const { moov, fragments } = packed;
  return (
    moov.length +
    (fragments ? fragments.entries.byteLength + weighMoof(fragments.firstMoof) : 0) +
    countDeclaredSamples(indexMovie(moov)) * SAMPLE_BYTES
  );
}

const weighMoof = (moof: MovieFragment | undefined): number =>
  moof ? moof.bytes.length + countRunSamples(moof.bytes) * SAMPLE_BYTES : 0;

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
