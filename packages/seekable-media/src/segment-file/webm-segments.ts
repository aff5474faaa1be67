import { type RunSample, UnsupportedMp4 } from '../isobmff/index.ts';
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
    const counted = readBlocks(segment, countPiece).map((block) => {
      for (const _ of block.frames.slice(1)) countPiece();
      return block;
    });
    const blocks = Map.groupBy(counted, ({ track }) => track);
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
  /** A second. */
  readonly scale: number;
  /** One unit of the file. */
  readonly factor: number;
  /** By which it is shown earlier than its times say. */
  readonly delay: number;
  /** The duration of a frame; 0: unknown. */
  readonly duration: number;
}

function toRun(kind: SegmentRun['kind'], blocks: readonly Block[], units: TrackUnits): SegmentRun {
  const toUnits = (time: number) => Math.round(time * units.factor);
  const samples = blocks.flatMap(({ time, duration, frames, isSync }, index): readonly RunSample[] => {
    const start = toUnits(time);
    const before = blocks[index - 1];
    const usual = (): number => {
      if (kind === 'soun') return Math.round(opusSeconds(frames) * units.scale);
      return units.duration || (before ? start - toUnits(before.time) : 0);
    };
    const next = blocks[index + 1]?.time ?? (duration === undefined ? undefined : time + duration);
    const lasts = next === undefined ? usual() : toUnits(next) - start;
    if (lasts < 0) throw new UnsupportedMp4('Frames that are not in the order of their times');
    const endOf = (count: number) => Math.round((lasts * count) / frames.length);
    return frames.map(({ length: size }, frame) => ({
      duration: endOf(frame + 1) - endOf(frame),
      size,
      compositionOffset: 0,
      isSync: isSync && (frame === 0 || kind === 'soun'),
    }));
  });
  const data = blocks.flatMap(({ frames }) => frames);
  return { kind, decodeTime: toUnits(blocks[0]?.time ?? 0) - units.delay, samples, data };
}

/** How long packets of Opus last (RFC 6716 §3.1). */
function opusSeconds(packets: readonly Buffer[]): number {
  const durations = packets.map(([first = 0, second = 0]) => {
    const mode = first >> 3;
    const size = mode & 3;
    const ms = mode < 12 ? [10, 20, 40, 60][size] : mode < 16 ? 10 << (mode & 1) : 2.5 * 2 ** size;
    return (ms ?? 0) * ([1, 2, 2][first & 3] ?? second & 63);
  });
  return durations.reduce((sum, each) => sum + each, 0) / 1000;
}
