import { type Box, parseBoxes } from './box-parser.ts';
import { box, fullBox, u32, u64 } from './box-writer.ts';
import type { SourceRange } from './track-fragments.ts';
import { inside } from './track-header.ts';
import { UnsupportedMp4 } from './unsupported-mp4.ts';

const TFHD = { base: 0x1, description: 0x2, duration: 0x8, size: 0x10, flags: 0x20, baseIsMoof: 0x2_0000 };
const TRUN = { dataOffset: 0x1, firstFlags: 0x4, duration: 0x100, size: 0x200, flags: 0x400, composition: 0x800 };
const SAMPLE_FIELDS = [TRUN.duration, TRUN.size, TRUN.flags, TRUN.composition];
const MAX_SAMPLES = 1_000_000;
const MDAT_HEADER_BYTES = 8;
const ENCRYPTION = new Set(['senc', 'saiz', 'saio']);

export interface FragmentInput {
  /** The content of a `moof`, and where the box starts in its file. */
  readonly moof: Buffer;
  readonly start: number;
  readonly sourceId: number;
  readonly id: number;
  /** As `trex` has them: description, duration, size, flags. */
  readonly defaults: Buffer;
  /** When it is decoded if it does not say. */
  readonly time: bigint;
}

/** One track's part of a `moof`. Times in units of the media. */
export interface Fragment {
  readonly startTime: bigint;
  readonly endTime: bigint;
  readonly bytes: number;
  readonly ranges: readonly SourceRange[];
  moof(sequence: number): Buffer;
}

interface TrackRun {
  /** The box with room for the place of its data, and how many bytes lie before those in the fragment. */
  readonly box: Buffer;
  readonly before: number;
}

/**
 * Takes one track's samples out of a `moof`, for another place in another file (ISO/IEC 14496-12 §8.8). Samples keep
 * their times, sizes and flags.
 * @throws Unsupported
 */
export function rewriteFragment({ moof, start, sourceId, id, defaults, time }: FragmentInput): Fragment {
  const runs: TrackRun[] = [];
  const ranges: { first: number; bytes: number }[] = [];
  const root: Box = { type: 'moof', start: 0, content: 0, end: moof.length };
  let header: Buffer | undefined;
  let startTime: bigint | undefined;
  let endTime = time;
  let bytes = 0;

  for (const traf of parseBoxes(moof)) {
    if (traf.type !== 'traf') continue;
    if (traf.end > root.end) throw new UnsupportedMp4('A fragment is cut');
    const tfhd = inside(moof, traf, 'tfhd', 8);
    if (moof.readUInt32BE(tfhd.content + 4) !== sourceId) continue;
    if (header) throw new UnsupportedMp4('A track twice in one fragment');
    const track = parseTrackFragment(moof, tfhd, { start, id, defaults });
    header = track.header;
    startTime = decodeTime(moof, traf) ?? time;
    endTime = startTime;
    let place = track.base;
    for (const part of parseBoxes(moof, traf.content, traf.end)) {
      if (ENCRYPTION.has(part.type)) throw new UnsupportedMp4('Encrypted samples');
      if (part.type !== 'trun') continue;
      if (part.end > traf.end) throw new UnsupportedMp4('A fragment is cut');
      const run = parseRun(moof, part, track);
      place = run.dataOffset === undefined ? place : track.base + run.dataOffset;
      const last = ranges.at(-1);
      if (last && place < last.first + last.bytes) throw new UnsupportedMp4('Samples out of order');
      runs.push({ box: run.box, before: bytes });
      if (run.bytes > 0) ranges.push({ first: place, bytes: run.bytes });
      place += run.bytes;
      bytes += run.bytes;
      endTime += BigInt(run.duration);
    }
  }

  const tfdt = fullBox('tfdt', 1, 0, u64(startTime ?? time));
  return {
    startTime: startTime ?? time,
    endTime,
    bytes,
    ranges,
    moof(sequence) {
      const traf = box('traf', header ?? Buffer.alloc(0), tfdt, ...runs.map((run) => run.box));
      const whole = box('moof', fullBox('mfhd', 0, 0, u32(sequence)), traf);
      let at = whole.length - runs.reduce((sum, run) => sum + run.box.length, 0);
      for (const run of runs) {
        whole.writeInt32BE(whole.length + MDAT_HEADER_BYTES + run.before, at + 16);
        at += run.box.length;
      }
      return whole;
    },
  };
}

interface TrackFragment {
  readonly header: Buffer;
  readonly base: number;
  readonly duration: number;
  readonly size: number;
}

function parseTrackFragment(
  moof: Buffer,
  { content, end }: Box,
  { start, id, defaults }: Pick<FragmentInput, 'start' | 'id' | 'defaults'>,
): TrackFragment {
  const flags = moof.readUInt32BE(content) & 0xff_ffff;
  const baseBytes = flags & TFHD.base ? 8 : 0;
  const fields = [TFHD.description, TFHD.duration, TFHD.size, TFHD.flags].filter((flag) => flags & flag);
  const at = content + 8 + baseBytes;
  if (at + fields.length * 4 > end) throw new UnsupportedMp4('A fragment is cut');
  const field = (flag: number, fallback: number) =>
    flags & flag ? moof.readUInt32BE(at + fields.indexOf(flag) * 4) : defaults.readUInt32BE(fallback);
  return {
    header: fullBox(
      'tfhd',
      0,
      (flags & ~TFHD.base) | TFHD.baseIsMoof,
      u32(id),
      moof.subarray(at, at + fields.length * 4),
    ),
    base: baseBytes ? Number(moof.readBigUInt64BE(content + 8)) : start,
    duration: field(TFHD.duration, 4),
    size: field(TFHD.size, 8),
  };
}

function decodeTime(moof: Buffer, traf: Box): bigint | undefined {
  for (const { type, content, end } of parseBoxes(moof, traf.content, traf.end)) {
    if (type !== 'tfdt') continue;
    const isLong = moof[content] === 1;
    if (end > traf.end || end - content < (isLong ? 12 : 8)) throw new UnsupportedMp4('A fragment is cut');
    return isLong ? moof.readBigUInt64BE(content + 4) : BigInt(moof.readUInt32BE(content + 4));
  }
  return undefined;
}

function parseRun(moof: Buffer, { content, end }: Box, track: TrackFragment) {
  if (end - content < 8) throw new UnsupportedMp4('A fragment is cut');
  const version = moof.readUInt8(content);
  const flags = moof.readUInt32BE(content) & 0xff_ffff;
  const count = moof.readUInt32BE(content + 4);
  const offsetBytes = flags & TRUN.dataOffset ? 4 : 0;
  const samplesAt = content + 8 + offsetBytes + (flags & TRUN.firstFlags ? 4 : 0);
  const sampleBytes = SAMPLE_FIELDS.filter((field) => flags & field).length * 4;
  if (count > MAX_SAMPLES || samplesAt + count * sampleBytes > end) throw new UnsupportedMp4('A fragment is cut');

  const sizeAt = samplesAt + (flags & TRUN.duration ? 4 : 0);
  let bytes = flags & TRUN.size ? 0 : count * track.size;
  let duration = flags & TRUN.duration ? 0 : count * track.duration;
  for (let index = 0; index < count; index += 1) {
    if (flags & TRUN.size) bytes += moof.readUInt32BE(sizeAt + index * sampleBytes);
    if (flags & TRUN.duration) duration += moof.readUInt32BE(samplesAt + index * sampleBytes);
  }
  const rest = moof.subarray(content + 8 + offsetBytes, samplesAt + count * sampleBytes);
  return {
    box: fullBox('trun', version, flags | TRUN.dataOffset, u32(count, 0), rest),
    dataOffset: offsetBytes ? moof.readInt32BE(content + 8) : undefined,
    bytes,
    duration,
  };
}
