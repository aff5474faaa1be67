import { box, flagsOf, fullBox, type IndexedBox, indexBox, integers, u32, u64 } from './boxes.ts';
import { readDecodeTime, TFHD, TRUN, trackIdOf } from './movie-fragment.ts';

/** Sample flags (ISO/IEC 14496-12 §8.8.3.1): `sample_depends_on` 2, a sync sample. */
export const SYNC_SAMPLE_FLAGS = 0x0200_0000;
/** `sample_depends_on` 1 and `sample_is_non_sync_sample`. */
export const NON_SYNC_SAMPLE_FLAGS = 0x0101_0000;

/** A `moof` with one track. */
interface FragmentDescription {
  readonly trackId: number;
  /** Units of the media. */
  readonly startTime: number;
  /** Counts from 1. */
  readonly sampleDescription: number;
  readonly runs: readonly SampleRun[];
  readonly hasFlags: boolean;
  readonly hasCompositionOffsets: boolean;
}

/** Samples that follow each other in their file. */
export interface SampleRun {
  /** Where the first one is in the file. */
  readonly first: number;
  /** Bytes that all samples take together. */
  readonly bytes: number;
  /** For each sample: duration, size, flags if `hasFlags`, composition offset if `hasCompositionOffsets`. */
  readonly fields: readonly number[];
}

/**
 * A `moof` of samples that stay where they are in their file: its offsets count from the beginning of the file. Without flags of their own,
 * all are sync samples.
 */
export function writeFileFragment(fragment: FragmentDescription): Buffer {
  const { trackId, startTime, sampleDescription, runs, hasFlags, hasCompositionOffsets } = fragment;
  const base = runs[0]?.first ?? 0;
  const tfhdFlags = TFHD.baseDataOffset | TFHD.sampleDescription | TFHD.sampleFlags;
  const defaults = u32(sampleDescription, SYNC_SAMPLE_FLAGS);
  const tfhd = fullBox('tfhd', 0, tfhdFlags, u32(trackId), u64(base), defaults);
  const optionalFlags = (hasFlags ? TRUN.sampleFlags : 0) | (hasCompositionOffsets ? TRUN.compositionOffset : 0);
  const flags = TRUN.dataOffset | TRUN.sampleDuration | TRUN.sampleSize | optionalFlags;
  const fieldsOfSample = 2 + Number(hasFlags) + Number(hasCompositionOffsets);
  const truns = runs.map(({ first, fields }) =>
    fullBox('trun', 1, flags, u32(fields.length / fieldsOfSample, first - base), integers(fields)),
  );
  const traf = box('traf', tfhd, fullBox('tfdt', 1, 0, u64(startTime)), ...truns);
  return box('moof', fullBox('mfhd', 0, 0, u32(0)), traf);
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
    const id = trackIdOf(tfhd);
    renumbered.writeUInt32BE(ids.get(id) ?? id, tfhd.content + 4);
  }
  return renumbered;
}

function shiftTrack(traf: IndexedBox, growth: number, unitsOf: (trackId: number) => number): Buffer {
  const moof = traf.bytes;
  const tfhd = traf.find('tfhd');
  const time = readDecodeTime(traf);
  if (!tfhd || time === undefined) return traf.whole;
  const shifted = time + BigInt(unitsOf(trackIdOf(tfhd)));
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
