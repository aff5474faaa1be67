import { type IndexedBox, indexBox } from './box-index.ts';
import { UnsupportedMp4 } from './boxes.ts';
import { parseRunHeader, parseTrackFragmentDefaults, readDecodeTime, TRUN } from './fragment-fields.ts';
import type { Sample } from './sample-table.ts';

/** A whole `moof`. */
export interface MovieFragment {
  readonly bytes: Buffer;
  /** Offset of the box in its file. */
  readonly offset: number;
}

/** `sample_is_non_sync_sample` of the sample flags (ISO/IEC 14496-12 §8.8.3.1). */
const NON_SYNC = 0x1_0000;
/** Of a track in a `moof`: samples without fields of their own take no bytes there. */
const MAX_SAMPLES = 1_000_000;
const ENCRYPTION_BOXES = ['senc', 'saiz', 'saio'];

/**
 * The samples of one track in a `moof`, in decode order (§8.8). None when the `moof` has no fragment of the track.
 * @param defaults 16 bytes of the track's `trex`: sample description index, duration, size, flags
 * @throws UnsupportedMp4 when it is truncated, encrypted, or does not say when its samples are decoded
 */
export function* parseFragmentSamples(
  { bytes, offset }: MovieFragment,
  trackId: number,
  defaults: Buffer,
): Generator<Sample> {
  const moof = indexBox(bytes);
  if (!moof || moof.end > bytes.length) throw new UnsupportedMp4('Truncated fragment');
  for (const traf of moof.children) {
    if (traf.type !== 'traf') continue;
    if (traf.end > moof.end) throw new UnsupportedMp4('Truncated fragment');
    const tfhd = traf.require('tfhd', 8);
    if (bytes.readUInt32BE(tfhd.content + 4) === trackId) yield* trackFragmentSamples(traf, offset, defaults);
  }
}

function* trackFragmentSamples(traf: IndexedBox, offset: number, defaults: Buffer): Generator<Sample> {
  const { bytes } = traf;
  if (ENCRYPTION_BOXES.some((type) => traf.find(type))) throw new UnsupportedMp4('Encrypted samples');
  const fallback = parseTrackFragmentDefaults(bytes, traf.require('tfhd', 8), defaults);
  const base = fallback.baseDataOffset ?? offset;
  const startTime = readDecodeTime(bytes, traf.require('tfdt', 8));
  if (startTime === undefined || startTime > Number.MAX_SAFE_INTEGER) {
    throw new UnsupportedMp4('Decode time out of range');
  }
  let decodeTime = Number(startTime);
  let position = base;
  let total = 0;
  for (const run of traf.children) {
    if (run.type !== 'trun') continue;
    if (run.end > traf.end || run.end - run.content < 8) throw new UnsupportedMp4('Truncated fragment');
    const { flags, count, samplesAt, sampleBytes } = parseRunHeader(bytes, run);
    if (samplesAt + count * sampleBytes > run.end) throw new UnsupportedMp4('Truncated fragment');
    total += count;
    if (total > MAX_SAMPLES) throw new UnsupportedMp4('Too many samples');
    if (flags & TRUN.dataOffset) position = base + bytes.readInt32BE(run.content + 8);
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
