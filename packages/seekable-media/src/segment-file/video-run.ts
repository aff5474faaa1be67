import { splitUnits, startsUnit, type VideoCodec } from '../elementary/index.ts';
import { beginWhenShown, isClosedGop, LENGTH_BYTES, type RunSample, UnsupportedMp4 } from '../isobmff/index.ts';
import type { EsStream } from '../mpegts/demux.ts';
import { CLOCK_HZ, ticksBetween } from '../mpegts/packets.ts';
import { type Mutable, TooManyPieces } from './segment-format.ts';

/** Pictures of one segment. */
const MAX_PICTURES = 100_000;
/** The duration of the last picture where it is the only one: 1/25 s. */
const USUAL_DURATION = CLOCK_HZ / 25;
/** The longest time between two pictures, and from decoding one to showing it. */
const MAX_STEP = 60 * CLOCK_HZ;

/** A picture as a segment has it. */
export interface Picture {
  readonly ticks: number;
  readonly decodeTicks: number;
  readonly units: readonly Buffer[];
  /** The bytes end before the next picture. */
  readonly isLast: boolean;
}

/** Pictures as samples, with the parameter sets that they have. */
export interface Pictures {
  /** As `beginTicks` of the first one. */
  readonly decodeTicks: number;
  readonly samples: readonly RunSample[];
  /** Their units. */
  readonly data: readonly Buffer[];
  readonly sets: readonly Buffer[];
}

/**
 * Each packet with a time begins a picture.
 * @throws UnsupportedMp4 where it does not: a picture goes on in it, or several are in it
 */
export function* picturesOf(codec: VideoCodec, { packets, data }: EsStream): Generator<Picture, undefined> {
  for (let index = 0; index < packets.length; ) {
    const { ticks, decodeTicks, at } = packets[index] ?? { at: 0 };
    if (ticks === undefined || decodeTicks === undefined) throw new UnsupportedMp4('Video without a time');
    index += 1;
    while (packets[index] && packets[index]?.ticks === undefined) index += 1;
    const bytes = data.subarray(at, packets[index]?.at ?? data.length);
    if (bytes.length >= 8 && !startsUnit(bytes)) throw new UnsupportedMp4('A picture that goes on in the next packet');
    const units = splitUnits(bytes);
    const starts = units.filter((unit) => codec.isSlice(unit) && codec.startsPicture(unit)).length;
    if (starts > 1) throw new UnsupportedMp4('Several pictures in one packet');
    yield { ticks, decodeTicks, units, isLast: index >= packets.length };
  }
}

/** When pictures begin to be decoded: those of a closed group once the first one is shown. */
export const beginTicks = (codec: VideoCodec, { ticks, decodeTicks, units }: Omit<Picture, 'isLast'>): number =>
  decodeTicks + (codec.startsClosed(units) ? Math.max(0, ticksBetween(decodeTicks, ticks)) : 0);

/** The parameter sets in front of the first slice, by their kind; each once. */
export function setsOf(codec: VideoCodec, units: readonly Buffer[]): readonly (readonly Buffer[])[] {
  const sets: Buffer[][] = Array.from({ length: codec.setKinds }, () => []);
  for (const unit of units.slice(
    0,
    units.findIndex((each) => codec.isSlice(each)),
  )) {
    const list = sets[codec.setKind(unit) ?? -1];
    if (list && !list.some((set) => set.equals(unit))) list.push(unit);
  }
  return sets;
}

/** @throws UnsupportedMp4 for times that do not ascend, TooManyPieces */
export function readPictures(
  codec: VideoCodec,
  stream: EsStream,
  maxUnits = Number.POSITIVE_INFINITY,
  hasSets = false,
): Pictures | undefined {
  const samples: Mutable<RunSample>[] = [];
  const data: Buffer[] = [];
  const sets = new Map<string, Buffer>();
  let start: { readonly decoded: number; readonly begins: number } | undefined;
  let before = 0;
  let count = 0;
  for (const { ticks, decodeTicks, units } of picturesOf(codec, stream)) {
    count += units.length;
    if (count > maxUnits) throw new TooManyPieces();
    for (const unit of units) if (codec.setKind(unit) !== undefined) sets.set(unit.toString('latin1'), unit);
    const kept = codec.keepsSets || hasSets ? units : units.filter((unit) => codec.setKind(unit) === undefined);
    if (kept.length === 0) continue;
    if (samples.length === MAX_PICTURES) throw new UnsupportedMp4('Too many pictures');
    const compositionOffset = ticksBetween(decodeTicks, ticks);
    const duration = ticksBetween(before, decodeTicks);
    const last = samples.at(-1);
    if (last) {
      if (!(duration > 0 && duration < MAX_STEP)) throw new UnsupportedMp4('Video of several clocks');
      last.duration = duration;
    }
    if (Math.abs(compositionOffset) > MAX_STEP) throw new UnsupportedMp4('A picture that is shown too late');
    const size = kept.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0);
    const isSync = codec.isSync(units);
    samples.push({ duration: last ? duration : USUAL_DURATION, size, compositionOffset, isSync });
    for (const unit of kept) data.push(unit);
    start ??= { decoded: decodeTicks, begins: beginTicks(codec, { ticks, decodeTicks, units }) };
    before = decodeTicks;
  }
  if (!start) return undefined;
  const own = { decodeTime: start.decoded, samples };
  const isMoved = start.begins > start.decoded;
  if (isMoved && !isClosedGop(own)) throw new UnsupportedMp4('Pictures that are shown before the first one');
  const run = isMoved ? beginWhenShown(own) : own;
  return { decodeTicks: run.decodeTime, samples: run.samples, data, sets: [...sets.values()] };
}
