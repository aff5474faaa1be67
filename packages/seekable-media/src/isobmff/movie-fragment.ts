import { type Box, flagsOf, type IndexedBox, indexBox, UnsupportedMp4 } from './boxes.ts';
import type { InitTrack } from './init-segment.ts';
import type { Sample } from './sample-table.ts';

/** Flags of `tfhd` (ISO/IEC 14496-12 §8.8.7.1). Fields are written in this order, each only where its flag is set. */
export const TFHD = {
  baseDataOffset: 0x1,
  sampleDescription: 0x2,
  sampleDuration: 0x8,
  sampleSize: 0x10,
  sampleFlags: 0x20,
  baseIsMoof: 0x2_0000,
} as const;

/** Flags of `trun` (§8.8.8.1). The last four are fields of each sample, in this order. */
export const TRUN = {
  dataOffset: 0x1,
  firstSampleFlags: 0x4,
  sampleDuration: 0x100,
  sampleSize: 0x200,
  sampleFlags: 0x400,
  compositionOffset: 0x800,
} as const;

const SAMPLE_FIELDS = [TRUN.sampleDuration, TRUN.sampleSize, TRUN.sampleFlags, TRUN.compositionOffset];
/** `sample_is_non_sync_sample` of the sample flags (§8.8.3.1). */
const NON_SYNC = 0x1_0000;
/** Samples of a track in a `moof`: those without fields of their own take no bytes there. */
const MAX_SAMPLES = 1_000_000;
const ENCRYPTION_BOXES = ['senc', 'saiz', 'saio'];

/** A `traf` (§8.8.6). Times in units of the media. */
interface TrackFragment {
  readonly trackId: number;
  /** Where data offsets count from in the file. Undefined: from the `moof`. */
  readonly baseDataOffset: number | undefined;
  /** Sample description index, from 1. */
  readonly description: number;
  /** Those of samples without fields of their own: by the `tfhd`, with the `trex` for the rest. */
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
  /** When the first sample is decoded (`tfdt`, §8.8.12). Undefined: the fragment does not say. */
  readonly decodeTime: bigint | undefined;
  readonly runs: readonly TrackRun[];
}

/** A `trun` (§8.8.8), all of which is there. */
interface TrackRun {
  readonly flags: number;
  readonly count: number;
  /** Where the samples begin, in bytes from the base of the track fragment. Undefined: after those of the run before. */
  readonly dataOffset: number | undefined;
  /** Where the first sample's fields begin, and bytes of each sample's. */
  readonly fieldsAt: number;
  readonly fieldBytes: number;
}

const truncated = () => new UnsupportedMp4('Truncated fragment');

/**
 * Reads a `traf`. All other functions here read fragments by it.
 * @param trex 16 bytes, as `findFragmentDefaults` returns them
 * @throws UnsupportedMp4 when it is truncated
 */
function parseTrackFragment(traf: IndexedBox, trex: Buffer): TrackFragment {
  const tfhd = traf.require('tfhd', 8);
  const flags = flagsOf(traf.bytes, tfhd);
  const content = traf.bytes.subarray(tfhd.content, tfhd.end);
  let at = 8 + (flags & TFHD.baseDataOffset ? 8 : 0);
  if (at > content.length) throw truncated();
  const field = (flag: number, fallback: number) => {
    if (!(flags & flag)) return trex.readUInt32BE(fallback);
    at += 4;
    if (at > content.length) throw truncated();
    return content.readUInt32BE(at - 4);
  };
  const decodeTime = readDecodeTime(traf);
  if (decodeTime === undefined && traf.children.some(({ type }) => type === 'tfdt')) throw truncated();
  return {
    trackId: trackIdOf(tfhd),
    baseDataOffset: flags & TFHD.baseDataOffset ? Number(content.readBigUInt64BE(8)) : undefined,
    description: field(TFHD.sampleDescription, 0),
    duration: field(TFHD.sampleDuration, 4),
    size: field(TFHD.sampleSize, 8),
    flags: field(TFHD.sampleFlags, 12),
    decodeTime,
    runs: traf.children.filter(({ type }) => type === 'trun').map((run) => parseRun(traf, run)),
  };
}

/** The id of the track of a `tfhd`. */
export const trackIdOf = ({ bytes, content }: IndexedBox): number => bytes.readUInt32BE(content + 4);

/** `base_media_decode_time` of the `tfdt` (§8.8.12); undefined where it is absent or truncated. */
export function readDecodeTime(traf: IndexedBox): bigint | undefined {
  const tfdt = traf.find('tfdt');
  if (!tfdt) return undefined;
  const { bytes, content, end } = tfdt;
  const at = content + 4;
  if (bytes[content] === 1) return at + 8 <= end ? bytes.readBigUInt64BE(at) : undefined;
  return at + 4 <= end ? BigInt(bytes.readUInt32BE(at)) : undefined;
}

function parseRun({ bytes, end }: IndexedBox, run: Box): TrackRun {
  if (run.end > end || run.end - run.content < 8) throw truncated();
  const flags = flagsOf(bytes, run);
  const count = bytes.readUInt32BE(run.content + 4);
  const fieldBytes = SAMPLE_FIELDS.filter((field) => flags & field).length * 4;
  const ownFields = Number((flags & TRUN.dataOffset) !== 0) + Number((flags & TRUN.firstSampleFlags) !== 0);
  const fieldsAt = run.content + 8 + 4 * ownFields;
  if (count > MAX_SAMPLES || fieldsAt + count * fieldBytes > run.end) throw truncated();
  const dataOffset = flags & TRUN.dataOffset ? bytes.readInt32BE(run.content + 8) : undefined;
  return { flags, count, dataOffset, fieldsAt, fieldBytes };
}

/**
 * The track fragments of a whole `moof`, or those of one track.
 * @throws UnsupportedMp4 when one is truncated or encrypted
 */
function* parseTrackFragments(moof: Buffer, trex: Buffer, trackId?: number): Generator<TrackFragment> {
  const root = indexBox(moof);
  if (!root || root.end > moof.length) throw truncated();
  for (const traf of root.children) {
    if (traf.type !== 'traf') continue;
    if (traf.end > root.end) throw truncated();
    if (trackId !== undefined && trackIdOf(traf.require('tfhd', 8)) !== trackId) continue;
    if (traf.children.some(({ type }) => ENCRYPTION_BOXES.includes(type)))
      throw new UnsupportedMp4('Encrypted samples');
    yield parseTrackFragment(traf, trex);
  }
}

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

/**
 * When the samples of one track in a `moof` are decoded, and where they are (ISO/IEC 14496-12 §8.8). Reads only fields that
 * have to be summed.
 * @param defaults 16 bytes of the track's `trex`: sample description index, duration, size, flags
 * @throws UnsupportedMp4 when it is truncated, encrypted, or has two fragments of the track
 */
export function measureFragment({ bytes, offset }: MovieFragment, trackId: number, defaults: Buffer): FragmentSpan {
  const [fragment, second] = [...parseTrackFragments(bytes, defaults, trackId)];
  if (second) throw new UnsupportedMp4('Two track fragments of one track in a moof');
  if (!fragment) return { startTime: 0, endTime: 0, ranges: [] };
  const base = fragment.baseDataOffset ?? offset;
  const startTime = fragment.decodeTime === undefined ? 0 : safeTime(fragment.decodeTime);
  const ranges: ByteSpan[] = [];
  let endTime = startTime;
  let position = base;
  for (const run of fragment.runs) {
    const { bytes: runBytes, duration } = measureRun(bytes, run, fragment);
    if (run.dataOffset !== undefined) position = base + run.dataOffset;
    const last = ranges.at(-1);
    if (last && position < last.first + last.bytes) throw new UnsupportedMp4('Samples out of order');
    if (runBytes > 0) ranges.push({ first: position, bytes: runBytes });
    position += runBytes;
    endTime += duration;
  }
  return { startTime, endTime, ranges };
}

/** What the samples of a run add up to. */
function measureRun(moof: Buffer, run: TrackRun, defaults: Pick<TrackFragment, 'size' | 'duration'>) {
  const { flags, count, fieldsAt, fieldBytes } = run;
  const sizesAt = fieldsAt + (flags & TRUN.sampleDuration ? 4 : 0);
  let bytes = flags & TRUN.sampleSize ? 0 : count * defaults.size;
  let duration = flags & TRUN.sampleDuration ? 0 : count * defaults.duration;
  // Samples without fields of their own take no bytes: there may be any number of them.
  for (let index = 0; fieldBytes > 0 && index < count; index += 1) {
    if (flags & TRUN.sampleSize) bytes += moof.readUInt32BE(sizesAt + index * fieldBytes);
    if (flags & TRUN.sampleDuration) duration += moof.readUInt32BE(fieldsAt + index * fieldBytes);
  }
  return { samples: count, bytes, duration };
}

function safeTime(time: bigint | undefined): number {
  if (time === undefined || time > Number.MAX_SAFE_INTEGER) throw new UnsupportedMp4('Decode time out of range');
  return Number(time);
}

/**
 * The samples of one track in a `moof`, in decode order (§8.8). None when the `moof` has no fragment of the track.
 * @param defaults as of `measureFragment`
 * @throws UnsupportedMp4 when it is truncated, encrypted, or does not say when its samples are decoded
 */
export function* parseFragmentSamples(
  { bytes, offset }: MovieFragment,
  trackId: number,
  defaults: Buffer,
): Generator<Sample> {
  for (const fragment of parseTrackFragments(bytes, defaults, trackId)) yield* parseSamples(bytes, offset, fragment);
}

function* parseSamples(moof: Buffer, offset: number, fragment: TrackFragment): Generator<Sample> {
  const base = fragment.baseDataOffset ?? offset;
  let decodeTime = safeTime(fragment.decodeTime);
  let position = base;
  let total = 0;
  for (const { flags, count, dataOffset, fieldsAt, fieldBytes } of fragment.runs) {
    total += count;
    if (total > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
    if (dataOffset !== undefined) position = base + dataOffset;
    for (let index = 0; index < count; index += 1) {
      let at = fieldsAt + index * fieldBytes;
      const field = (flag: number, value: number) => {
        if (!(flags & flag)) return value;
        at += 4;
        return moof.readUInt32BE(at - 4);
      };
      const isFirst = index === 0 && (flags & TRUN.firstSampleFlags) !== 0;
      const duration = field(TRUN.sampleDuration, fragment.duration);
      const size = field(TRUN.sampleSize, fragment.size);
      const sampleFlags = field(TRUN.sampleFlags, isFirst ? moof.readUInt32BE(fieldsAt - 4) : fragment.flags);
      const unsigned = field(TRUN.compositionOffset, 0);
      yield {
        decodeTime,
        duration,
        // Signed in version 0 too: writers use negative offsets in both.
        compositionOffset: unsigned | 0,
        offset: position,
        size,
        isSync: (sampleFlags & NON_SYNC) === 0,
        description: fragment.description,
      };
      decodeTime += duration;
      position += size;
    }
  }
}

/** Nothing is known of the defaults of the movie. */
const NO_DEFAULTS = Buffer.alloc(16);

/** What the samples of a run add up to. NaN: the movie tells it for each sample. */
interface RunTotals {
  readonly id: number;
  readonly samples: number;
  readonly bytes: number;
  /** Units of the media. */
  readonly duration: number;
}

/** What all track fragments of a `moof` describe. @throws UnsupportedMp4 when it is truncated or encrypted */
export function* totalRuns(moof: Buffer): Generator<RunTotals> {
  for (const { trackId: id, size, duration, runs } of parseTrackFragments(moof, NO_DEFAULTS)) {
    const stated = { size: size || Number.NaN, duration: duration || Number.NaN };
    for (const run of runs) yield { id, ...measureRun(moof, run, stated) };
  }
}

/** When the samples of one track in a `moof` are decoded. Seconds. */
export interface FragmentTime {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

/** The decode times of a whole `moof`, encrypted or not. Track fragments that are truncated or have no `tfdt` are left out. */
export function fragmentTimes(moof: Buffer, tracks: readonly InitTrack[]): readonly FragmentTime[] {
  return (indexBox(moof)?.children ?? []).flatMap((traf) => {
    const fragment = traf.type === 'traf' && traf.end <= moof.length ? tryParse(traf) : undefined;
    const track = tracks.find(({ id }) => id === fragment?.trackId);
    if (fragment?.decodeTime === undefined || !track) return [];
    const defaults = { size: 0, duration: fragment.duration || track.sampleDuration };
    const units = fragment.runs.reduce((sum, run) => sum + measureRun(moof, run, defaults).duration, 0);
    const start = Number(fragment.decodeTime) / track.timescale;
    return [{ id: track.id, start, end: start + units / track.timescale }];
  });
}

function tryParse(traf: IndexedBox): TrackFragment | undefined {
  try {
    return parseTrackFragment(traf, NO_DEFAULTS);
  } catch {
    return undefined;
  }
}

/** The samples that the runs of a `moof` declare; those without fields of their own take no bytes in it. */
export function countRunSamples(moof: Buffer): number {
  const runs = (indexBox(moof)?.children ?? [])
    .filter(({ type }) => type === 'traf')
    .flatMap(({ children }) => children.filter(({ type, content, end }) => type === 'trun' && end - content >= 8));
  return runs.reduce((sum, { content }) => sum + moof.readUInt32BE(content + 4), 0);
}
