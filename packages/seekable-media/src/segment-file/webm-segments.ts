import { type PlaceSample, UnsupportedMp4 } from '../isobmff/index.ts';
import { type Block, readBlocks } from '../webm/index.ts';
import { type SegmentFormat, type SegmentRun, TooManyPieces } from './segment-format.ts';

/** The clusters of a Matroska file, from one cue to the next. Its table follows from its cues: no segment is inspected. */
export const webmSegments: SegmentFormat = {
  hasFileTimes: true,
  hasIndexedPieces: true,
  inspect() {
    throw new UnsupportedMp4('Clusters without the header of their file');
  },
  read(segment, { state, tracks }, maxPieces = Number.POSITIVE_INFINITY) {
    let pieces = 0;
    const countPiece = () => {
      pieces += 1;
      if (pieces > maxPieces) throw new TooManyPieces();
    };
    const blocks = Map.groupBy(readBlocks(segment, countPiece), ({ track }) => track);
    const read: WebmState = JSON.parse(state.toString());
    return read.flatMap((units, index) => {
      const found = blocks.get(units.number);
      const kind = tracks[index]?.kind;
      return found && kind ? [toRun(kind, found, units)] : [];
    });
  },
};

/** What reading clusters needs, by track: its number in the file, and units of the track in MP4. */
export type WebmState = readonly TrackUnits[];

interface TrackUnits {
  readonly number: number;
  /** For one unit of the file. */
  readonly factor: number;
  /** By which it is shown earlier than its times say. */
  readonly delay: number;
  /** The duration of a frame; 0: unknown. */
  readonly duration: number;
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
