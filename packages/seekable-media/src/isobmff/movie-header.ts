import { box, fullBox, type IndexedBox, indexBox, UnsupportedMp4, u32, u64 } from './boxes.ts';
import { MEDIA_TIMES, TRACK_TIMES, type TrackHeader, timesVersion } from './track-header.ts';

/** A track of the file to be written. */
export interface OutputTrack {
  readonly header: TrackHeader;
  /** 0: unknown. */
  readonly durationSeconds: number;
  /** Seconds of the samples, where an edit list presents less of them or more. @default `durationSeconds` */
  readonly mediaSeconds?: number;
  /** Children of `stbl`; undefined: the samples are in fragments. */
  readonly sampleTables?: readonly Buffer[];
  /** It has chapters, and players do not show it: the tracks of video and audio refer to it. */
  readonly isChapters?: true;
  /** Players play it only when it is chosen. @default false */
  readonly isDisabled?: boolean;
  /** `udta` of the track. */
  readonly metadata?: Buffer;
}

/** The unity matrix (ISO/IEC 14496-12 §8.2.2.2), in 16.16 and 2.30 fixed point. */
const UNITY_MATRIX = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);
/** 1.0 in 16.16 fixed point. */
const NORMAL_RATE = 0x1_0000;
/** 1.0 in 8.8 fixed point, in the upper half. */
const FULL_VOLUME = 0x0100_0000;
/** `track_enabled` and `track_in_movie` (§8.3.2.1); the latter alone. */
const TRACK_FLAGS = 3;
const DISABLED_FLAGS = 2;
/** `trex`: the first sample description; every fragment has its own durations, sizes and flags. */
const NO_DEFAULTS = u32(1, 0, 0, 0);
/** `ftyp` of a fragmented file: major brand `iso5`, minor version 512, compatible with `iso5`, `iso6` and `mp41`. */
export const FRAGMENTED_FILE_TYPE = box('ftyp', Buffer.from('iso5\0\0\x02\0iso5iso6mp41', 'latin1'));

/**
 * `moov` of a fragmented file (ISO/IEC 14496-12 §8.8) with its duration. Tracks are numbered from 1 in their order and keep
 * everything of their sources but samples and metadata.
 * @param extra further children, such as `udta`
 */
export function writeFragmentedMovie(tracks: readonly OutputTrack[], extra: readonly Buffer[] = []): Buffer {
  const { duration, boxes } = writeMovieBoxes(tracks);
  const mehd = duration > 0 ? [fullBox('mehd', 1, 0, u64(duration))] : [];
  const trexs = tracks.map((track, index) => writeTrackDefaults(track, index + 1));
  return box('moov', ...boxes, box('mvex', ...mehd, ...trexs), ...extra);
}

/** `moov` of a file with sample tables; otherwise as `writeFragmentedMovie`. */
export const writeMovie = (tracks: readonly OutputTrack[], extra: readonly Buffer[] = []): Buffer =>
  box('moov', ...writeMovieBoxes(tracks).boxes, ...extra);

/** `mvhd` and all `trak`, and the duration in units of the movie. */
function writeMovieBoxes(tracks: readonly OutputTrack[]) {
  // The finest time scale of all sources: edits lose no precision.
  const timescale = Math.max(...tracks.map(({ header }) => header.movieTimescale));
  const duration = Math.max(...tracks.map(({ durationSeconds }) => Math.round(durationSeconds * timescale)));
  const mvhd = fullBox(
    'mvhd',
    1,
    0,
    u64(0), // creation_time
    u64(0), // modification_time
    u32(timescale),
    u64(duration),
    u32(NORMAL_RATE, FULL_VOLUME, 0, 0), // rate, volume, reserved
    UNITY_MATRIX,
    u32(0, 0, 0, 0, 0, 0), // pre_defined
    u32(tracks.length + 1), // next_track_ID
  );
  const references = chapterReference(tracks, 1);
  return {
    duration,
    boxes: [mvhd, ...tracks.map((track, index) => writeTrack(track, index + 1, timescale, references))],
  };
}

/** `tref` (§8.3.3) of the tracks that have chapters. @param firstId of the tracks */
function chapterReference(tracks: readonly OutputTrack[], firstId: number): readonly Buffer[] {
  const found = tracks.findIndex(({ isChapters }) => isChapters);
  return found < 0 ? [] : [box('tref', box('chap', u32(firstId + found)))];
}

/** `trex` (§8.8.3): what fragments of a track that say nothing else have. */
const writeTrackDefaults = ({ header }: OutputTrack, id: number): Buffer =>
  fullBox('trex', 0, 0, u32(id), header.fragmentDefaults ?? NO_DEFAULTS);

/**
 * `trak`.
 * @param movieTimescale of `mvhd`
 * @param references of a track that is not one of chapters itself
 */
function writeTrack(
  track: OutputTrack,
  id: number,
  movieTimescale: number,
  references: readonly Buffer[] = [],
): Buffer {
  const { header, isChapters, isDisabled = isChapters, durationSeconds, mediaSeconds = durationSeconds } = track;
  const { sampleTables = EMPTY_SAMPLE_TABLES } = track;
  const { timescale, presentation, language, media, mediaInformation, sampleDescriptions } = header;
  const movieDuration = u64(Math.round(durationSeconds * movieTimescale));
  // creation_time, modification_time, track_ID and reserved, duration, then layer to height.
  const flags = isDisabled ? DISABLED_FLAGS : TRACK_FLAGS;
  const tkhd = fullBox('tkhd', 1, flags, u64(0), u64(0), u32(id, 0), movieDuration, presentation);
  const mediaDuration = u64(Math.round(mediaSeconds * timescale));
  // creation_time, modification_time, timescale, duration, language and pre_defined.
  const mdhd = fullBox('mdhd', 1, 0, u64(0), u64(0), u32(timescale), mediaDuration, language);
  const minf = box('minf', ...mediaInformation, box('stbl', sampleDescriptions, ...sampleTables));
  const trefs = isChapters ? [] : references;
  const metadata = track.metadata ? [track.metadata] : [];
  const mdia = box('mdia', mdhd, ...media, minf);
  return box('trak', tkhd, ...trefs, ...editList(header, movieTimescale), mdia, ...metadata);
}

/** Mandatory in `stbl` (§8.5.1); the samples are in fragments. */
const EMPTY_SAMPLE_TABLES = [
  fullBox('stts', 0, 0, u32(0)),
  fullBox('stsc', 0, 0, u32(0)),
  fullBox('stsz', 0, 0, u32(0, 0)),
  fullBox('stco', 0, 0, u32(0)),
];

/** Edit durations are in units of the movie, whose time scale changes. */
function editList({ edits, movieTimescale: from }: TrackHeader, to: number): Buffer[] {
  if (edits.length === 0) return [];
  const entries = edits.flatMap(({ duration, mediaTime, rate }) => [
    u64(Math.round((duration * to) / from)), // segment_duration
    u64(BigInt.asUintN(64, mediaTime)), // media_time, signed
    u32(rate), // media_rate
  ]);
  return [box('edts', fullBox('elst', 1, 0, u32(edits.length), ...entries))];
}

/**
 * A `moov` with further tracks and other metadata; the fragments that follow it stay valid.
 * @param moov the whole box
 * @param udta in place of the one there is. Absent: that one stays
 * @throws UnsupportedMp4 when mandatory boxes are missing
 */
export function extendMovie(moov: Buffer, tracks: readonly OutputTrack[], udta?: Buffer): Buffer {
  const root = indexBox(moov);
  if (root?.type !== 'moov' || root.end !== moov.length) throw new UnsupportedMp4('Not a whole moov');
  const mvhd = root.require('mvhd', MEDIA_TIMES[1].end);
  const timescale = moov.readUInt32BE(mvhd.content + MEDIA_TIMES[timesVersion(moov, mvhd)].timescale);
  const { children } = root;
  const traks = children.filter(({ type }) => type === 'trak');
  if (traks.length === 0) throw new UnsupportedMp4('No track');
  const firstId = 1 + Math.max(...traks.map(trackId));
  const added = tracks.map((track, index) => writeTrack(track, firstId + index, timescale));
  const defaults = tracks.map((track, index) => writeTrackDefaults(track, firstId + index));

  const references = chapterReference(tracks, firstId);
  const content = children.flatMap(({ type, start, content: from, end }) => {
    const bytes = moov.subarray(start, end);
    switch (type) {
      case 'trak':
        return references.length === 0 ? [bytes] : [box('trak', moov.subarray(from, end), ...references)];
      case 'mvhd':
        // `next_track_ID` is its last field (ISO/IEC 14496-12 §8.2.2).
        return [bytes.subarray(0, -4), u32(firstId + tracks.length)];
      case 'mvex':
        return [...added, box('mvex', moov.subarray(from, end), ...defaults)];
      case 'udta':
        return udta ? [] : [bytes];
      default:
        return [bytes];
    }
  });
  const hasFragments = children.some(({ type }) => type === 'mvex');
  return box('moov', ...content, ...(hasFragments ? [] : added), ...(udta ? [udta] : []));
}

function trackId(trak: IndexedBox): number {
  const { bytes } = trak;
  const tkhd = trak.require('tkhd', TRACK_TIMES[1].end);
  return bytes.readUInt32BE(tkhd.content + TRACK_TIMES[timesVersion(bytes, tkhd)].trackId);
}

/** Above it, times do not fit their fields in players. */
const MAX_TIMESCALE = 0x7fff_ffff;

/** The least time scale in which all times of some tracks are whole. @throws UnsupportedMp4 where it is too large */
export function commonTimescale(timescales: readonly number[]): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  const common = timescales.reduce((a, b) => (a / divisor(a, b)) * b, 1);
  if (!(common <= MAX_TIMESCALE)) throw new UnsupportedMp4('No common time scale');
  return common;
}
