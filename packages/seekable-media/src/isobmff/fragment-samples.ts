import { type Box, type IndexedBox, indexBox, UnsupportedMp4 } from './boxes.ts';
import {
  parseRunHeader,
  parseTrackFragmentDefaults,
  readDecodeTime,
  TRUN,
  type TrackFragmentDefaults,
} from './fragment-fields.ts';
import type { Sample } from './sample-table.ts';

/** A whole `moof`. */
export interface MovieFragment {
  readonly bytes: Buffer;
  /** Offset of the box in its file. */
  readonly offset: number;
}

/** Bytes of a file. */
export interface ByteSpan {
  readonly first: number;
  readonly bytes: number;
}

/** The samples of one track in a `moof`, as a whole. Times in units of the media. */
export interface FragmentSpan {
  /** 0 where the `moof` does not say when its samples are decoded. */
  readonly startTime: number;
  readonly endTime: number;
  /** Where the samples are in their file, in decode order. */
  readonly ranges: readonly ByteSpan[];
}

/** `sample_is_non_sync_sample` of the sample flags (ISO/IEC 14496-12 §8.8.3.1). */
const NON_SYNC = 0x1_0000;
/** Samples of a track in a `moof`: those without fields of their own take no bytes there. */
const MAX_SAMPLES = 1_000_000;
const ENCRYPTION_BOXES = ['senc', 'saiz', 'saio'];

/**
 * When the samples of one track in a `moof` are decoded, and where they are (ISO/IEC 14496-12 §8.8). Reads only fields that
 * have to be summed.
 * @param defaults 16 bytes of the track's `trex`: sample description index, duration, size, flags
 * @throws UnsupportedMp4 when it is truncated, encrypted, or has two fragments of the track
 */
export function measureFragment(fragment: MovieFragment, trackId: number, defaults: Buffer): FragmentSpan {
  const { bytes: moof, offset } = fragment;
  const [traf, second] = [...findTrackFragments(fragment, trackId)];
  if (second) throw new UnsupportedMp4('Two track fragments of one track in a moof');
  if (!traf) return { startTime: 0, endTime: 0, ranges: [] };
  const fallback = parseTrackFragmentDefaults(moof, traf.require('tfhd', 8), defaults);
  const base = fallback.baseDataOffset ?? offset;
  const startTime = traf.children.some(({ type }) => type === 'tfdt') ? requireDecodeTime(traf) : 0;
  const ranges: ByteSpan[] = [];
  let endTime = startTime;
  let position = base;
  for (const run of findRuns(traf)) {
    const { dataOffset, bytes, duration } = measureRun(moof, run, fallback);
    if (dataOffset !== undefined) position = base + dataOffset;
    const last = ranges.at(-1);
    if (last && position < last.first + last.bytes) throw new UnsupportedMp4('Samples out of order');
    if (bytes > 0) ranges.push({ first: position, bytes });
    position += bytes;
    endTime += duration;
  }
  return { startTime, endTime, ranges };
}

/**
 * The samples of one track in a `moof`, in decode order (§8.8). None when the `moof` has no fragment of the track.
 * @param defaults as of `measureFragment`
 * @throws UnsupportedMp4 when it is truncated, encrypted, or does not say when its samples are decoded
 */
export function* parseFragmentSamples(fragment: MovieFragment, trackId: number, defaults: Buffer): Generator<Sample> {
  for (const traf of findTrackFragments(fragment, trackId)) yield* parseTrackFragment(traf, fragment.offset, defaults);
}

function* parseTrackFragment(traf: IndexedBox, offset: number, defaults: Buffer): Generator<Sample> {
  const { bytes } = traf;
  const fallback = parseTrackFragmentDefaults(bytes, traf.require('tfhd', 8), defaults);
  const base = fallback.baseDataOffset ?? offset;
  let decodeTime = requireDecodeTime(traf);
  let position = base;
  let total = 0;
  for (const run of findRuns(traf)) {
    const { flags, count, dataOffset, samplesAt, sampleBytes } = parseRunHeader(bytes, run);
    if (samplesAt + count * sampleBytes > run.end) throw truncated();
    total += count;
    if (total > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
    if (dataOffset !== undefined) position = base + dataOffset;
    for (let index = 0; index < count; index += 1) {
      let at = samplesAt + index * sampleBytes;
      const field = (flag: number, value: number) => {
        if (!(flags & flag)) return value;
        at += 4;
        return bytes.readUInt32BE(at - 4);
      };
      const isFirst = index === 0 && (flags & TRUN.firstSampleFlags) !== 0;
      const duration = field(TRUN.sampleDuration, fallback.duration);
      const size = field(TRUN.sampleSize, fallback.size);
      const sampleFlags = field(TRUN.sampleFlags, isFirst ? bytes.readUInt32BE(samplesAt - 4) : fallback.flags);
      const unsigned = field(TRUN.compositionOffset, 0);
      yield {
        decodeTime,
        duration,
        // Signed in version 0 too: writers use negative offsets in both.
        compositionOffset: unsigned | 0,
        offset: position,
        size,
        isSync: (sampleFlags & NON_SYNC) === 0,
        description: fallback.description,
      };
      decodeTime += duration;
      position += size;
    }
  }
}

/** @throws UnsupportedMp4 when one is truncated or encrypted */
function* findTrackFragments({ bytes }: MovieFragment, trackId?: number): Generator<IndexedBox> {
  const moof = indexBox(bytes);
  if (!moof || moof.end > bytes.length) throw truncated();
  for (const traf of moof.children) {
    if (traf.type !== 'traf') continue;
    if (traf.end > moof.end) throw truncated();
    const tfhd = traf.require('tfhd', 8);
    if (trackId !== undefined && bytes.readUInt32BE(tfhd.content + 4) !== trackId) continue;
    if (traf.children.some(({ type }) => ENCRYPTION_BOXES.includes(type)))
      throw new UnsupportedMp4('Encrypted samples');
    yield traf;
  }
}

function* findRuns(traf: IndexedBox): Generator<IndexedBox> {
  for (const run of traf.children) {
    if (run.type !== 'trun') continue;
    if (run.end > traf.end || run.end - run.content < 8) throw truncated();
    yield run;
  }
}

function requireDecodeTime(traf: IndexedBox): number {
  const time = readDecodeTime(traf.bytes, traf.require('tfdt', 8));
  if (time === undefined || time > Number.MAX_SAFE_INTEGER) throw new UnsupportedMp4('Decode time out of range');
  return Number(time);
}

function measureRun(moof: Buffer, run: Box, defaults: TrackFragmentDefaults) {
  const { flags, count, dataOffset, samplesAt, sampleBytes } = parseRunHeader(moof, run);
  if (count > MAX_SAMPLES || samplesAt + count * sampleBytes > run.end) throw truncated();
  const sizesAt = samplesAt + (flags & TRUN.sampleDuration ? 4 : 0);
  let bytes = flags & TRUN.sampleSize ? 0 : count * defaults.size;
  let duration = flags & TRUN.sampleDuration ? 0 : count * defaults.duration;
  // Samples without fields of their own take no bytes: there may be any number of them.
  for (let index = 0; sampleBytes > 0 && index < count; index += 1) {
    if (flags & TRUN.sampleSize) bytes += moof.readUInt32BE(sizesAt + index * sampleBytes);
    if (flags & TRUN.sampleDuration) duration += moof.readUInt32BE(samplesAt + index * sampleBytes);
  }
  return { samples: count, dataOffset, bytes, duration };
}

const truncated = () => new UnsupportedMp4('Truncated fragment');

/** What the samples of a run add up to. NaN: the movie tells it for each sample. */
export interface RunTotals {
  readonly id: number;
  readonly samples: number;
  readonly bytes: number;
  /** Units of the media. */
  readonly duration: number;
}

/** What all track fragments of a `moof` describe. @throws UnsupportedMp4 when it is truncated or encrypted */
export function* totalRuns(moof: Buffer): Generator<RunTotals> {
  for (const traf of findTrackFragments({ bytes: moof, offset: 0 })) {
    const tfhd = traf.require('tfhd', 8);
    const { size, duration, ...defaults } = parseTrackFragmentDefaults(moof, tfhd, Buffer.alloc(16));
    const stated = { ...defaults, size: size || Number.NaN, duration: duration || Number.NaN };
    const id = moof.readUInt32BE(tfhd.content + 4);
    for (const run of findRuns(traf)) yield { id, ...measureRun(moof, run, stated) };
  }
}

/** The samples that the runs of a `moof` declare; those without fields of their own take no bytes in it. */
export function countRunSamples(moof: Buffer): number {
  const runs = (indexBox(moof)?.children ?? [])
    .filter(({ type }) => type === 'traf')
    .flatMap(({ children }) => children.filter(({ type, content, end }) => type === 'trun' && end - content >= 8));
  return runs.reduce((sum, { content }) => sum + moof.readUInt32BE(content + 4), 0);
}
