import { box, fullBox, u32, u64 } from './box-writer.ts';
import type { TrackHeader } from './track-header.ts';

/** A track of the file being written. */
export interface OutputTrack {
  readonly header: TrackHeader;
  /** 0: unknown, as for a muxer that writes before it has read. */
  readonly durationSeconds: number;
}

const UNITY = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);
const RATE = 0x1_0000;
const VOLUME = 0x0100_0000;
/** Enabled, and part of the presentation. */
const TRACK_FLAGS = 3;
/** `trex` without defaults of its own: the first description, and whatever each fragment says. */
const NO_DEFAULTS = u32(1, 0, 0, 0);
const FTYP = box('ftyp', Buffer.from('iso5\0\0\x02\0iso5iso6mp41', 'latin1'));

/**
 * `ftyp` and `moov` of a fragmented file (ISO/IEC 14496-12 §8.8) that knows its duration. Tracks are numbered from 1 in
 * their order; of what their files say they keep all but their samples and metadata.
 */
export function movieHeader(tracks: readonly OutputTrack[]): Buffer {
  // The finest of all: no edit loses precision.
  const timescale = Math.max(...tracks.map(({ header }) => header.movieTimescale));
  const durations = tracks.map(({ durationSeconds }) => Math.round(durationSeconds * timescale));
  const duration = Math.max(...durations);
  const mvhd = fullBox(
    'mvhd',
    1,
    0,
    u64(0),
    u64(0),
    u32(timescale),
    u64(duration),
    u32(RATE, VOLUME, 0, 0),
    UNITY,
    u32(0, 0, 0, 0, 0, 0, tracks.length + 1),
  );
  const traks = tracks.map(({ header, durationSeconds }, index) => trak(header, index + 1, durationSeconds, timescale));
  const mehd = duration > 0 ? [fullBox('mehd', 1, 0, u64(duration))] : [];
  const trexs = tracks.map(({ header }, index) =>
    fullBox('trex', 0, 0, u32(index + 1), header.fragmentDefaults ?? NO_DEFAULTS),
  );
  return Buffer.concat([FTYP, box('moov', mvhd, ...traks, box('mvex', ...mehd, ...trexs))]);
}

function trak(header: TrackHeader, id: number, seconds: number, movieTimescale: number): Buffer {
  const { timescale, presentation, language, edits, media, mediaInformation, sampleDescriptions } = header;
  const tkhd = fullBox(
    'tkhd',
    1,
    TRACK_FLAGS,
    u64(0),
    u64(0),
    u32(id, 0),
    u64(Math.round(seconds * movieTimescale)),
    presentation,
  );
  const mdhd = fullBox('mdhd', 1, 0, u64(0), u64(0), u32(timescale), u64(Math.round(seconds * timescale)), language);
  const empty = [
    fullBox('stts', 0, 0, u32(0)),
    fullBox('stsc', 0, 0, u32(0)),
    fullBox('stsz', 0, 0, u32(0, 0)),
    fullBox('stco', 0, 0, u32(0)),
  ];
  const minf = box('minf', ...mediaInformation, box('stbl', sampleDescriptions, ...empty));
  return box('trak', tkhd, ...editList(header, edits, movieTimescale), box('mdia', mdhd, ...media, minf));
}

function editList({ movieTimescale: from }: TrackHeader, edits: TrackHeader['edits'], to: number): Buffer[] {
  if (edits.length === 0) return [];
  const entries = edits.flatMap(({ duration, mediaTime, rate }) => [
    u64(Math.round((duration * to) / from)),
    u64(BigInt.asUintN(64, mediaTime)),
    u32(rate),
  ]);
  return [box('edts', fullBox('elst', 1, 0, u32(edits.length), ...entries))];
}
