import { type Box, findChild, parseBoxes } from './box-parser.ts';

/** Bytes of an `mehd` with a 64-bit duration (ISO/IEC 14496-12 §8.8.2). */
const MEHD_BYTES = 20;
const BOX_HEADER_BYTES = 8;
const UNKNOWN_32 = 0xffff_ffff;
/** Where version 0 and 1 of a box keep time scale and duration, behind the box header (§8.2.2, §8.3.2, §8.4.2). */
const MEDIA_TIMES = [
  { timescale: 12, duration: 16 },
  { timescale: 20, duration: 24 },
] as const;
const TRACK_TIMES = [{ duration: 20 }, { duration: 28 }] as const;

/**
 * Writes the duration of a whole presentation into a fragmented file's `moov`, where a muxer that cannot know it leaves
 * 0: into mvhd, every tkhd and mdhd, and as an `mehd` at the head of mvex. The length stays, so that every offset that
 * counts from the file's start (`tfra`) stays right: room for `mehd` is made from `udta`, which only names the muxer.
 * Without that box the `moov` grows.
 *
 * @param moov the whole box
 * @param seconds the presentation's duration
 * @returns a new box; the given one when it is not what a muxer writes
 */
export function patchDuration(moov: Buffer, seconds: number): Buffer {
  const [root] = parseBoxes(moov);
  const mvhd = root && findChild(moov, root, 'mvhd');
  const mvex = root && findChild(moov, root, 'mvex');
  if (root?.type !== 'moov' || root.end !== moov.length || !mvhd || !mvex) return moov;

  const patched = Buffer.from(moov);
  const movieScale = timescale(patched, mvhd);
  if (movieScale === undefined) return moov;
  writeMediaTimes(patched, mvhd, seconds);
  for (const trak of parseBoxes(patched, root.content, root.end)) {
    if (trak.type !== 'trak' || trak.end > root.end) continue;
    const tkhd = findChild(patched, trak, 'tkhd');
    const mdia = findChild(patched, trak, 'mdia');
    const mdhd = mdia && findChild(patched, mdia, 'mdhd');
    if (tkhd) writeDuration(patched, tkhd, TRACK_TIMES, Math.round(seconds * movieScale));
    if (mdhd) writeMediaTimes(patched, mdhd, seconds);
  }
  return withMehd(patched, root, mvex, Math.round(seconds * movieScale));
}

function withMehd(moov: Buffer, root: Box, mvex: Box, duration: number): Buffer {
  if (findChild(moov, mvex, 'mehd')) return moov;
  const udta = findChild(moov, root, 'udta');
  const room = udta ? udta.end - udta.start - MEHD_BYTES : 0;
  const replaceable = udta && udta.start >= mvex.end && (room === 0 || room >= BOX_HEADER_BYTES);
  const mehd = Buffer.alloc(MEHD_BYTES);
  mehd.writeUInt32BE(MEHD_BYTES, 0);
  mehd.write('mehd\x01', 4, 'latin1');
  mehd.writeBigUInt64BE(BigInt(duration), 12);

  const behind = replaceable
    ? [moov.subarray(mvex.content, udta.start), free(room), moov.subarray(udta.end)]
    : [moov.subarray(mvex.content)];
  const whole = Buffer.concat([moov.subarray(0, mvex.content), mehd, ...behind]);
  whole.writeUInt32BE(whole.length, root.start);
  whole.writeUInt32BE(mvex.end - mvex.start + MEHD_BYTES, mvex.start);
  return whole;
}

/** A box that says nothing. */
function free(bytes: number): Buffer {
  const box = Buffer.alloc(bytes);
  if (bytes > 0) box.writeUInt32BE(bytes, 0);
  if (bytes > 0) box.write('free', 4, 'latin1');
  return box;
}

function writeMediaTimes(bytes: Buffer, box: Box, seconds: number): void {
  const scale = timescale(bytes, box);
  if (scale !== undefined) writeDuration(bytes, box, MEDIA_TIMES, Math.round(seconds * scale));
}

function timescale(bytes: Buffer, box: Box): number | undefined {
  const field = MEDIA_TIMES[versionOf(bytes, box)]?.timescale;
  return field !== undefined && box.content + field + 4 <= box.end
    ? bytes.readUInt32BE(box.content + field)
    : undefined;
}

function writeDuration(bytes: Buffer, box: Box, times: readonly { duration: number }[], value: number): void {
  const version = versionOf(bytes, box);
  const field = times[version]?.duration;
  if (field === undefined || box.content + field + (version === 1 ? 8 : 4) > box.end) return;
  const at = box.content + field;
  // All ones say that the duration cannot be told: what does not fit is better unknown than wrong.
  if (version === 1) bytes.writeBigUInt64BE(BigInt(value), at);
  else bytes.writeUInt32BE(Math.min(value, UNKNOWN_32), at);
}

const versionOf = (bytes: Buffer, box: Box) => (box.content < box.end ? bytes.readUInt8(box.content) : -1);
