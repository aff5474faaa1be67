import { type PlaceSample, UnsupportedMp4 } from '../isobmff/index.ts';
import { type Block, readBlocks, type WebmFile, type WebmTrack, weighBlocks } from '../webm/index.ts';
import {
  type Encoding,
  MAX_PLACE_BYTES,
  presentationOf,
  type SegmentFormat,
  type SegmentRun,
} from './segment-format.ts';
import { MAX_PLACES, type SegmentTable } from './segment-table.ts';

/** The clusters of a Matroska file, from one cue to the next. Its table follows from its cues: no segment is inspected. */
export const webmSegments: SegmentFormat = {
  hasFileTimes: true,
  inspect() {
    throw new UnsupportedMp4('Clusters without the header of their file');
  },
  read(segment, { state, tracks }) {
    const blocks = Map.groupBy(readBlocks(segment), ({ track }) => track);
    const { numbers, delays, frames } = parseState(state);
    return tracks.flatMap(({ kind }, index) => {
      const found = blocks.get(numbers[index] ?? -1) ?? [];
      const unit = frames[index] ?? { factor: 1, duration: 0 };
      return found.length === 0 ? [] : [toRun(kind, found, { ...unit, delay: delays[index] ?? 0 })];
    });
  },
  weigh: weighBlocks,
};

/** What reading clusters needs, by track. */
interface ReadState {
  readonly numbers: readonly number[];
  /** Units of the track by which it is shown earlier. */
  readonly delays: readonly number[];
  /** Units of the track for one of the file, and for a frame; 0: unknown. */
  readonly frames: readonly { readonly factor: number; readonly duration: number }[];
}

const parseState = (state: Buffer): ReadState => JSON.parse(state.toString());

interface TrackUnits {
  readonly factor: number;
  readonly duration: number;
  readonly delay: number;
}

function toRun(
  kind: SegmentRun['kind'],
  blocks: readonly Block[],
  { factor, duration, delay }: TrackUnits,
): SegmentRun {
  const samples = blocks.map(({ time, duration: stated, data, isSync }, index): PlaceSample => {
    const next = blocks[index + 1]?.time;
    const before = blocks[index - 1]?.time;
    const usual = duration || (before === undefined ? 0 : (time - before) * factor);
    const lasts = next === undefined ? (stated === undefined ? usual : stated * factor) : (next - time) * factor;
    if (lasts < 0) throw new UnsupportedMp4('Frames that are not in the order of their times');
    return { duration: lasts, size: data.length, compositionOffset: 0, isSync };
  });
  return { kind, decodeTime: (blocks[0]?.time ?? 0) * factor - delay, samples, data: blocks.map(({ data }) => data) };
}

/** Opus in MP4 has this one. */
const AUDIO_TIMESCALE = 48_000;
const SECOND_NS = 1e9;
/** Boxes of a place that do not depend on its frames. */
const FRAME_BYTES = 512;
/** By which the fields of a frame in MP4 are longer than those of a block at most, and how many frames a second may have at most. */
const GROWTH = {
  vide: { bytes: 6, perSecond: 120 },
  soun: { bytes: 2, perSecond: 100 },
} as const;
/** Frames of the next second, and those of other tracks that begin earlier. */
const EXTRA_SECONDS = 1;

/** @throws UnsupportedMp4 when the places are too many or too large */
export function createWebmTable({ unitNs, duration, tracks, places }: WebmFile): SegmentTable {
  if (places.length > MAX_PLACES) throw new UnsupportedMp4('Too many cues');
  const unitsPerSecond = SECOND_NS / unitNs;
  const timescaleOf = ({ kind }: WebmTrack) =>
    kind === 'soun' && AUDIO_TIMESCALE % unitsPerSecond === 0 ? AUDIO_TIMESCALE : unitsPerSecond;
  const timescale = Math.max(...tracks.map(timescaleOf));
  const delaysOf = (scale: (track: WebmTrack) => number) =>
    tracks.map((track) => Math.round((track.delayNs * scale(track)) / SECOND_NS));
  const state: ReadState = {
    numbers: tracks.map(({ number }) => number),
    delays: delaysOf(timescaleOf),
    frames: tracks.map((track) => ({
      factor: timescaleOf(track) / unitsPerSecond,
      duration: Math.round(((track.frameNs ?? 0) * timescaleOf(track)) / SECOND_NS),
    })),
  };
  const encoding: Encoding = {
    tracks: tracks.map((track) => ({
      kind: track.kind,
      timescale: timescaleOf(track),
      sampleEntry: track.sampleEntry,
      presentation: presentationOf(track.size),
    })),
    state: Buffer.from(JSON.stringify(state)),
  };
  const factor = timescale / unitsPerSecond;
  const delays = delaysOf(() => timescale);
  const toUnits = (time: number) => time * factor - (delays[0] ?? 0);
  return {
    format: 'webm',
    encodings: [encoding],
    timescale,
    // Not of the first frame: the files of a pair begin with time 0.
    startTime: -Math.max(...delays),
    endTime: toUnits(duration),
    places: places.map(({ time, start, end }, index) => {
      const seconds = ((places[index + 1]?.time ?? duration) - time) / unitsPerSecond;
      const segmentBytes = end - start;
      const bytes = segmentBytes + FRAME_BYTES + tracks.reduce((sum, track) => sum + growthOf(track, seconds), 0);
      if (bytes > MAX_PLACE_BYTES) throw new UnsupportedMp4('Too many bytes between two cues');
      return { segmentBytes, bytes, time: toUnits(time), startsWithSync: true, encoding: 0 };
    }),
  };
}

function growthOf({ kind, frameNs }: WebmTrack, seconds: number): number {
  const { bytes, perSecond } = GROWTH[kind];
  return Math.ceil((seconds + EXTRA_SECONDS) * bytes * (frameNs ? SECOND_NS / frameNs : perSecond));
}
