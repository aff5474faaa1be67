import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { WebmFile, WebmTrack } from '../webm/index.ts';
import { type Encoding, MAX_SUBSEGMENT_BYTES, presentationOf } from './segment-format.ts';
import { MAX_SUBSEGMENTS, type SegmentTable } from './segment-table.ts';
import type { WebmState } from './webm-segments.ts';

/** Opus in MP4 has this one. */
const AUDIO_TIMESCALE = 48_000;
const SECOND_NS = 1e9;
/** Boxes of a subsegment that do not depend on its frames. */
const FRAME_BYTES = 512;
/**
 * By which the fields of a frame in MP4 are longer than those of a block at most, and those of a frame that shares a block; and how many
 * frames a second may have at most.
 */
const GROWTH = {
  vide: { bytes: 6, laced: 12, perSecond: 120 },
  soun: { bytes: 2, laced: 8, perSecond: 100 },
} as const;
/** Frames of the next second, and those of other tracks that begin earlier. */
const EXTRA_SECONDS = 1;

/** @throws UnsupportedMp4 when the spans are too many or too large */
export function createWebmTable({ unitNs, duration, tracks, spans }: WebmFile): SegmentTable {
  if (spans.length > MAX_SUBSEGMENTS) throw new UnsupportedMp4('Too many cues');
  const unitsPerSecond = SECOND_NS / unitNs;
  // mkvmerge writes sound in units of 20,832 ns, about one sample.
  const isInexact = !Number.isInteger(unitsPerSecond);
  const timescaleOf = ({ kind }: WebmTrack) =>
    isInexact || (kind === 'soun' && AUDIO_TIMESCALE % unitsPerSecond === 0) ? AUDIO_TIMESCALE : unitsPerSecond;
  const timescale = Math.max(...tracks.map(timescaleOf));
  const toScale = (ns: number, scale: number) => Math.round((ns * scale) / SECOND_NS);
  const state: WebmState = tracks.map((track) => {
    const { number, delayNs, frameNs = 0 } = track;
    const scale = timescaleOf(track);
    const [delay, duration] = [toScale(delayNs, scale), toScale(frameNs, scale)];
    return { number, scale, factor: scale / unitsPerSecond, delay, duration };
  });
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
  const delays = tracks.map(({ delayNs }) => toScale(delayNs, timescale));
  const toUnits = (time: number) => Math.round(time * factor) - (delays[0] ?? 0);
  return {
    format: 'webm',
    encodings: [encoding],
    timescale,
    // Not of the first frame: the files of a pair begin with time 0.
    startTime: -Math.max(...delays),
    endTime: toUnits(duration),
    entries: spans.map(({ time, start, end }, index) => {
      const seconds = ((spans[index + 1]?.time ?? duration) - time) / unitsPerSecond;
      const segmentBytes = end - start;
      const bytes = segmentBytes + FRAME_BYTES + tracks.reduce((sum, track) => sum + growthOf(track, seconds), 0);
      if (bytes > MAX_SUBSEGMENT_BYTES) throw new UnsupportedMp4('Too many bytes between two cues');
      return { segmentBytes, bytes, time: toUnits(time), startsWithSync: true, encoding: 0 };
    }),
  };
}

function growthOf({ kind, frameNs, isLaced }: WebmTrack, seconds: number): number {
  const { bytes, laced, perSecond } = GROWTH[kind];
  return Math.ceil((seconds + EXTRA_SECONDS) * (isLaced ? laced : bytes) * (frameNs ? SECOND_NS / frameNs : perSecond));
}
