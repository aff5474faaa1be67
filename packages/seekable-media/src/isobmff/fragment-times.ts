import { type Box, box, flagsOf, fullBox, type IndexedBox, indexBox, u64 } from './boxes.ts';
import { parseRunHeader, readDecodeTime, TFHD, TRUN } from './fragment-fields.ts';
import type { InitTrack } from './init-segment.ts';

/** When the samples of one track in a `moof` are decoded. Seconds. */
export interface FragmentTime {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The decode times of a whole `moof`. Track fragments without a `tfdt` are left out. */
export function fragmentTimes(moof: Buffer, tracks: readonly InitTrack[]): readonly FragmentTime[] {
  return trackFragments(indexBox(moof)).flatMap((traf) => {
    const tfhd = traf.find('tfhd');
    const time = decodeTime(traf);
    const track = tfhd && tracks.find(({ id }) => id === trackIdOf(moof, tfhd));
    if (!tfhd || !track || time === undefined) return [];
    const units = traf.children
      .filter(({ type, end }) => type === 'trun' && end <= traf.end)
      .reduce((sum, run) => sum + runDuration(moof, run, defaultDuration(moof, tfhd) ?? track.sampleDuration), 0);
    const start = Number(time) / track.timescale;
    return [{ id: track.id, start, end: start + units / track.timescale }];
  });
}

/**
 * Delays the decode times of a `moof`, each track's by its own number of units, clamped at 0. Every `tfdt` becomes
 * 64-bit; where that makes the box longer, the data offsets of its runs grow by as much.
 */
export function shiftFragment(moof: Buffer, unitsOf: (trackId: number) => number): Buffer {
  const root = indexBox(moof);
  if (!root) return moof;
  const times = trackFragments(root).flatMap((traf) => traf.find('tfdt') ?? []);
  const growth = times.reduce((sum, { content }) => sum + (moof[content] === 1 ? 0 : 4), 0);
  const children = root.children.map((child) =>
    child.type === 'traf' ? shiftTrack(child, growth, unitsOf) : child.whole,
  );
  return box('moof', ...children);
}

/** A `moof` whose tracks have other ids. @param ids by those that they have */
export function renumberFragment(moof: Buffer, ids: ReadonlyMap<number, number>): Buffer {
  const renumbered = Buffer.from(moof);
  for (const traf of trackFragments(indexBox(renumbered))) {
    const tfhd = traf.require('tfhd', 8);
    const id = trackIdOf(renumbered, tfhd);
    renumbered.writeUInt32BE(ids.get(id) ?? id, tfhd.content + 4);
  }
  return renumbered;
}

function shiftTrack(traf: IndexedBox, growth: number, unitsOf: (trackId: number) => number): Buffer {
  const moof = traf.bytes;
  const tfhd = traf.find('tfhd');
  const time = decodeTime(traf);
  if (!tfhd || time === undefined) return traf.whole;
  const shifted = time + BigInt(unitsOf(trackIdOf(moof, tfhd)));
  // An absolute base counts from the start of the source's file, which is not the file being sent: it stays as it is.
  const offsetGrowth = flagsOf(moof, tfhd) & TFHD.baseDataOffset ? 0 : growth;
  const children = traf.children.map((child) => {
    if (child.type === 'tfdt') return fullBox('tfdt', 1, flagsOf(moof, child), u64(shifted > 0n ? shifted : 0n));
    return child.type === 'trun' && offsetGrowth > 0 ? growDataOffset(child, offsetGrowth) : child.whole;
  });
  return box('traf', ...children);
}

function growDataOffset(run: IndexedBox, growth: number): Buffer {
  if (!(flagsOf(run.bytes, run) & TRUN.dataOffset)) return run.whole;
  const grown = Buffer.from(run.whole);
  const at = run.content - run.start + 8;
  grown.writeInt32BE(grown.readInt32BE(at) + growth, at);
  return grown;
}

const trackFragments = (moof: IndexedBox | undefined): readonly IndexedBox[] =>
  moof?.children.filter(({ type, end, bytes }) => type === 'traf' && end <= bytes.length) ?? [];

const trackIdOf = (bytes: Buffer, { content }: Box): number => bytes.readUInt32BE(content + 4);

function decodeTime(traf: IndexedBox): bigint | undefined {
  const tfdt = traf.find('tfdt');
  return tfdt && readDecodeTime(traf.bytes, tfdt);
}

function defaultDuration(moof: Buffer, tfhd: Box): number | undefined {
  const flags = flagsOf(moof, tfhd);
  if (!(flags & TFHD.sampleDuration)) return undefined;
  const at = tfhd.content + 8 + (flags & TFHD.baseDataOffset ? 8 : 0) + (flags & TFHD.sampleDescription ? 4 : 0);
  return at + 4 <= tfhd.end ? moof.readUInt32BE(at) : undefined;
}

/** Sum of the sample durations of a run, in units. Samples beyond the end of the box do not count. */
function runDuration(moof: Buffer, run: Box, fallback: number): number {
  const { flags, count, samplesAt, sampleBytes } = parseRunHeader(moof, run);
  if (!(flags & TRUN.sampleDuration)) return count * fallback;
  const end = samplesAt + count * sampleBytes;
  let units = 0;
  for (let at = samplesAt; at + 4 <= run.end && at < end; at += sampleBytes) units += moof.readUInt32BE(at);
  return units;
}
