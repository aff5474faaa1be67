import { type Box, findChild, parseBoxes } from './box-parser.ts';
import { box, fullBox, u64 } from './box-writer.ts';
import type { InitTrack } from './init-segment.ts';

/** When one track's part of a `moof` is decoded. Seconds. */
export interface FragmentTime {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

const TFHD = { base: 0x1, description: 0x2, duration: 0x8 };
const TRUN = { dataOffset: 0x1, firstFlags: 0x4, duration: 0x100, size: 0x200, flags: 0x400, composition: 0x800 };
const SAMPLE_FIELDS = [TRUN.duration, TRUN.size, TRUN.flags, TRUN.composition];

/** The times that a `moof`, given whole, says itself; a part without one goes on where the last ended. */
export function fragmentTimes(moof: Buffer, tracks: readonly InitTrack[]): readonly FragmentTime[] {
  return trackFragments(moof).flatMap((traf) => {
    const tfhd = findChild(moof, traf, 'tfhd');
    const time = decodeTime(moof, traf);
    const track = tfhd && tracks.find(({ id }) => id === idOf(moof, tfhd));
    if (!tfhd || !track || time === undefined) return [];
    const units = [...parseBoxes(moof, traf.content, traf.end)]
      .filter(({ type, end }) => type === 'trun' && end <= traf.end)
      .reduce((sum, run) => sum + runDuration(moof, run, defaultDuration(moof, tfhd) ?? track.sampleDuration), 0);
    const start = Number(time) / track.timescale;
    return [{ id: track.id, start, end: start + units / track.timescale }];
  });
}

/**
 * A `moof` whose tracks are decoded at other times, each later by so many units; never before 0. Times get 64 bits, and
 * where that makes the box longer, its runs find their samples so much further on.
 */
export function shiftFragment(moof: Buffer, unitsOf: (trackId: number) => number): Buffer {
  const [root] = parseBoxes(moof);
  if (!root) return moof;
  const times = trackFragments(moof).flatMap((traf) => findChild(moof, traf, 'tfdt') ?? []);
  const growth = times.reduce((sum, { content }) => sum + (moof[content] === 1 ? 0 : 4), 0);
  const parts = [...parseBoxes(moof, root.content, root.end)].map((part) =>
    part.type === 'traf' ? shiftTrack(moof, part, growth, unitsOf) : moof.subarray(part.start, part.end),
  );
  return box('moof', ...parts);
}

function shiftTrack(moof: Buffer, traf: Box, growth: number, unitsOf: (trackId: number) => number): Buffer {
  const tfhd = findChild(moof, traf, 'tfhd');
  const time = decodeTime(moof, traf);
  if (!tfhd || time === undefined) return moof.subarray(traf.start, traf.end);
  const moved = time + BigInt(unitsOf(idOf(moof, tfhd)));
  // Counted from the start of the file, samples have no place in a file that is put together.
  const grows = flagsOf(moof, tfhd) & TFHD.base ? 0 : growth;
  const parts = [...parseBoxes(moof, traf.content, traf.end)].map((part) => {
    if (part.type === 'tfdt') return fullBox('tfdt', 1, flagsOf(moof, part), u64(moved > 0n ? moved : 0n));
    const bytes = moof.subarray(part.start, part.end);
    return part.type === 'trun' && grows > 0 ? withOffset(bytes, grows) : bytes;
  });
  return box('traf', ...parts);
}

function withOffset(trun: Buffer, more: number): Buffer {
  const [run] = parseBoxes(trun);
  if (!run || !(flagsOf(trun, run) & TRUN.dataOffset)) return trun;
  const moved = Buffer.from(trun);
  moved.writeInt32BE(trun.readInt32BE(run.content + 8) + more, run.content + 8);
  return moved;
}

function trackFragments(moof: Buffer): readonly Box[] {
  const [root] = parseBoxes(moof);
  if (!root) return [];
  return [...parseBoxes(moof, root.content, root.end)].filter(({ type, end }) => type === 'traf' && end <= moof.length);
}

const flagsOf = (bytes: Buffer, { content }: Box): number => bytes.readUInt32BE(content) & 0xff_ffff;
const idOf = (bytes: Buffer, { content }: Box): number => bytes.readUInt32BE(content + 4);

function decodeTime(moof: Buffer, traf: Box): bigint | undefined {
  const tfdt = findChild(moof, traf, 'tfdt');
  if (!tfdt) return undefined;
  const at = tfdt.content + 4;
  if (moof[tfdt.content] === 1) return at + 8 <= tfdt.end ? moof.readBigUInt64BE(at) : undefined;
  return at + 4 <= tfdt.end ? BigInt(moof.readUInt32BE(at)) : undefined;
}

function defaultDuration(moof: Buffer, tfhd: Box): number | undefined {
  const flags = flagsOf(moof, tfhd);
  if (!(flags & TFHD.duration)) return undefined;
  const at = tfhd.content + 8 + (flags & TFHD.base ? 8 : 0) + (flags & TFHD.description ? 4 : 0);
  return at + 4 <= tfhd.end ? moof.readUInt32BE(at) : undefined;
}

/** Units that the samples of a run last. */
function runDuration(moof: Buffer, { content, end }: Box, fallback: number): number {
  const flags = moof.readUInt32BE(content) & 0xff_ffff;
  const count = moof.readUInt32BE(content + 4);
  if (!(flags & TRUN.duration)) return count * fallback;
  const first = content + 8 + (flags & TRUN.dataOffset ? 4 : 0) + (flags & TRUN.firstFlags ? 4 : 0);
  const step = SAMPLE_FIELDS.filter((field) => flags & field).length * 4;
  let units = 0;
  for (let at = first; at + 4 <= end && at < first + count * step; at += step) units += moof.readUInt32BE(at);
  return units;
}
