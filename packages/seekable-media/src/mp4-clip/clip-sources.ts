import {
  type HandlerType,
  listTrackKinds,
  type MovieFragment,
  parseFragmentSamples,
  parseSampleTable,
  parseTrackHeader,
  type Sample,
  type TrackHeader,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import type { ClipTimes, Span } from '../parts/skipping.ts';
import {
  type FileHeaders,
  type FragmentEntry,
  type FragmentIndex,
  type PackedHeaders,
  type SourceIndex,
  timeFragments,
  unpackHeaders,
} from '../virtual-mp4/index.ts';
import { type ClipOptions, layOutClip } from './clip-layout.ts';
import { type ClipLayout, type ClipTrack, parsePresentationTime } from './clip-window.ts';
import { layOutOpus } from './opus-layout.ts';

/** The tracks of a file by kind. */
export interface FileTracks {
  readonly video?: TrackHeader;
  readonly audio?: TrackHeader;
}

/** Samples of one track in all fragments of a clip: four hours of video at 60 frames a second. */
const MAX_SAMPLES = 1_000_000;

/**
 * The first track of each kind that a file has.
 * @throws UnsupportedMp4 when it has none of them, or one that is not supported
 */
export function parseFileTracks({ movie }: FileHeaders, kinds: readonly HandlerType[]): FileTracks {
  const present = listTrackKinds(movie);
  const parse = (kind: HandlerType) =>
    kinds.includes(kind) && present.includes(kind) ? parseTrackHeader(movie, kind) : undefined;
  const [video, audio] = [parse('vide'), parse('soun')];
  if (!video && !audio) throw new UnsupportedMp4('Neither video nor audio');
  return { video, audio };
}

/** A file that has a track: which one, and its bytes. */
type TrackFile = Pick<ClipTrack, 'source' | 'fileBytes'>;

/** The samples of a file with sample tables, of which a clip takes some. @throws UnsupportedMp4 */
export function readTableSamples(header: TrackHeader, file: TrackFile): ClipTrack {
  const table = parseSampleTable(header.sampleTable);
  return {
    ...file,
    header,
    *samples(): Generator<Sample> {
      const cursor = table.cursor();
      while (cursor.next()) yield cursor;
    },
  };
}

/** The samples in some fragments of a file. @throws UnsupportedMp4 */
export function readFragmentSamples(
  header: TrackHeader,
  file: TrackFile,
  fragments: readonly MovieFragment[],
): ClipTrack {
  const { id, fragmentDefaults: defaults } = header;
  if (!defaults) throw new UnsupportedMp4(`No trex for track ${id}`);
  return {
    ...file,
    header,
    *samples(): Generator<Sample> {
      let count = 0;
      for (const fragment of fragments) {
        for (const sample of parseFragmentSamples(fragment, id, defaults)) {
          count += 1;
          if (count > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
          yield sample;
        }
      }
    },
  };
}

/** A file of a clip, in a form that can be cloned fast. */
export interface ClipSource {
  readonly header: PackedHeaders;
  /** The tracks to take from it. */
  readonly kinds: readonly HandlerType[];
  /** The fragments that may have samples of the clip. Absent: the file is not fragmented. */
  readonly fragments?: PackedFragments;
}

/** The `moof` boxes of some fragments, one after the other. */
export interface PackedFragments {
  readonly bytes: Buffer;
  /** Where each ends in `bytes`, and its offset in the file. */
  readonly ends: Float64Array;
  readonly offsets: Float64Array;
}

export function packMoofs(fragments: readonly MovieFragment[]): PackedFragments {
  let end = 0;
  return {
    bytes: Buffer.concat(fragments.map(({ bytes }) => bytes)),
    ends: Float64Array.from(fragments, ({ bytes }) => {
      end += bytes.length;
      return end;
    }),
    offsets: Float64Array.from(fragments, ({ offset }) => offset),
  };
}

const unpackMoofs = ({ bytes, ends, offsets }: PackedFragments): readonly MovieFragment[] =>
  Array.from(offsets, (offset, index) => ({ offset, bytes: bytes.subarray(ends[index - 1] ?? 0, ends[index]) }));

/**
 * The layout of a part of one file, or of the video of the first with the audio of the others.
 * @throws UnsupportedMp4 when nothing is presented between start and end, and Error when a file is truncated
 */
export function layOutClipSources(
  sources: readonly ClipSource[],
  times: ClipTimes,
  options: ClipOptions = {},
): ClipLayout {
  const files = sources.map(parseClipTracks);
  const [first] = files;
  const audio = (files.length > 1 ? files.slice(1) : files).flatMap((file) => file.audio ?? []);
  const { container, tags } = options;
  if (container === 'opus' && audio[0] && tags) return layOutOpus(audio[0], times, tags);
  return layOutClip({ video: first?.video, audio }, times, options);
}

/** The tracks of a file with their samples. @throws UnsupportedMp4 */
function parseClipTracks({ header, kinds, fragments: packed }: ClipSource, source: SourceIndex) {
  const file = { source, fileBytes: header.fileBytes };
  const { video, audio } = parseFileTracks(unpackHeaders(header), kinds);
  const fragments = packed && unpackMoofs(packed);
  const readSamples = (track: TrackHeader) =>
    fragments ? readFragmentSamples(track, file, fragments) : readTableSamples(track, file);
  return { video: video && readSamples(video), audio: audio && readSamples(audio) };
}

/** Every one is read for its `moof` before the first byte of the clip is sent. */
const MAX_CLIP_FRAGMENTS = 2000;
/**
 * What is presented at the start may be decoded earlier, of which an index may have the times: pictures are shown later, decoders
 * need some audio before it, and the first frame may be shown before it.
 */
const MARGIN_SECONDS = 1;
/** `starts_with_SAP` of a `sidx` entry (ISO/IEC 14496-12 §8.16.3). */
const STARTS_WITH_SAP = 0x8000_0000;

/**
 * The fragments that may have samples of a clip, in the order of the file.
 * @param clip its times, and the size of the file
 * @throws UnsupportedMp4 when there are none, or too many
 */
export function selectFragments(
  index: FragmentIndex,
  { video, audio }: FileTracks,
  { startSeconds, endSeconds, fileBytes }: Span & { readonly fileBytes: number },
): readonly FragmentEntry[] {
  const timed = timeFragments(index, fileBytes);
  const shifts = [video, audio].flatMap((header) => (header ? parsePresentationTime(header).shiftSeconds : []));
  // The time line of the index is that of one track: another one may have a sample of the same moment elsewhere.
  const margin = shifts.length > 1 ? 1 : 0;
  const from = startSeconds - Math.max(...shifts) - MARGIN_SECONDS;
  const until = endSeconds - Math.min(...shifts);
  let first = timed.findLastIndex((fragment) => fragment.startSeconds <= from) - margin;
  const hasAccessPoints = video !== undefined && timed.some(startsWithAccessPoint);
  while (first > 0 && hasAccessPoints && !startsWithAccessPoint(timed[first])) first -= 1;
  const next = timed.findIndex((fragment) => fragment.startSeconds >= until);
  const wanted = timed.slice(Math.max(0, first), next < 0 ? undefined : next + margin);
  if (wanted.length === 0) throw new UnsupportedMp4('Nothing is shown between start and end');
  if (wanted.length > MAX_CLIP_FRAGMENTS) throw new UnsupportedMp4('The clip is too long for a fragmented file');
  return wanted;
}

const startsWithAccessPoint = (fragment: FragmentEntry | undefined): boolean =>
  fragment !== undefined && fragment.accessPoint >= STARTS_WITH_SAP;
