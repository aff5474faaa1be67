import {
  BOX_HEADER_BYTES,
  type Box,
  boxHeader,
  findLeadingMovie,
  fullBox,
  type IndexedBox,
  indexBox,
  indexContent,
  u64,
} from './boxes.ts';
import { MEDIA_TIMES, TRACK_TIMES, UNKNOWN_32 } from './track-header.ts';

/** Bytes of an `mehd` with a 64-bit duration (ISO/IEC 14496-12 §8.8.2). */
const MEHD_BYTES = 20;
/** A header that has not ended by then is passed on unchanged. */
const MAX_HEADER_BYTES = 1024 * 1024;

/**
 * Patches the `moov` in the first bytes of a fragmented file; see `patchDuration`.
 * @returns all bytes, unchanged where the file does not begin with a `moov` of reasonable size; undefined while more
 *   bytes are needed to decide
 */
export function patchHeaderDuration(bytes: Buffer, seconds: number): Buffer | undefined {
  const box = findLeadingMovie(bytes, MAX_HEADER_BYTES);
  if (!box) return box === null ? bytes : undefined;
  const moov = patchDuration(bytes.subarray(box.start, box.end), seconds);
  return Buffer.concat([bytes.subarray(0, box.start), moov, bytes.subarray(box.end)]);
}

/** Seconds from 1904, which ISO BMFF counts from, to 1970. */
const EPOCH_OFFSET_SECONDS = 2_082_844_800;

/** Writes when the media was recorded into the `mvhd` in the first bytes of a file, as far as they hold one. */
export function patchCreationTime(bytes: Buffer, epochMs: number): Buffer {
  const mvhd = indexContent(bytes, 'file').find('moov', 'mvhd');
  const field = mvhd && versionOf(bytes, mvhd) === 1 ? 8 : 4;
  if (!mvhd || mvhd.content + 4 + field > mvhd.end) return bytes;
  const patched = Buffer.from(bytes);
  const seconds = Math.max(0, Math.floor(epochMs / 1000) + EPOCH_OFFSET_SECONDS);
  if (field === 8) patched.writeBigUInt64BE(BigInt(seconds), mvhd.content + 4);
  else patched.writeUInt32BE(Math.min(seconds, UNKNOWN_32), mvhd.content + 4);
  return patched;
}

/**
 * Writes the duration of a presentation into a fragmented file's `moov`, where a muxer that does not know it in advance
 * leaves 0: into mvhd, every tkhd and mdhd, and as an `mehd` at the start of mvex. The length stays, so that offsets from
 * the start of the file (`tfra`) remain valid: `udta`, which only names the muxer, makes room for `mehd`. Without that
 * box the `moov` grows.
 *
 * @param moov the whole box
 * @param seconds the presentation's duration
 * @returns a new box; the given one when it does not have the expected boxes
 */
export function patchDuration(moov: Buffer, seconds: number): Buffer {
  const patched = Buffer.from(moov);
  const root = indexBox(patched);
  const mvhd = root?.find('mvhd');
  const mvex = root?.find('mvex');
  if (root?.type !== 'moov' || root.end !== moov.length || !mvhd || !mvex) return moov;

  const movieTimescale = readTimescale(patched, mvhd);
  if (movieTimescale === undefined) return moov;
  writeMediaDuration(patched, mvhd, seconds);
  for (const trak of root.children) {
    if (trak.type !== 'trak' || trak.end > root.end) continue;
    const tkhd = trak.find('tkhd');
    const mdhd = trak.find('mdia', 'mdhd');
    if (tkhd) writeDuration(patched, tkhd, TRACK_TIMES, Math.round(seconds * movieTimescale));
    if (mdhd) writeMediaDuration(patched, mdhd, seconds);
  }
  return insertMehd(root, mvex, Math.round(seconds * movieTimescale));
}

function insertMehd(root: IndexedBox, mvex: IndexedBox, duration: number): Buffer {
  const moov = root.bytes;
  if (mvex.find('mehd')) return moov;
  const udta = root.find('udta');
  const room = udta ? udta.end - udta.start - MEHD_BYTES : 0;
  const isReplaceable = udta && udta.start >= mvex.end && (room === 0 || room >= BOX_HEADER_BYTES);

  const mehd = fullBox('mehd', 1, 0, u64(duration));
  const rest = isReplaceable
    ? [moov.subarray(mvex.content, udta.start), freeBox(room), moov.subarray(udta.end)]
    : [moov.subarray(mvex.content)];
  const grown = Buffer.concat([moov.subarray(0, mvex.content), mehd, ...rest]);
  grown.writeUInt32BE(grown.length, root.start);
  grown.writeUInt32BE(mvex.end - mvex.start + MEHD_BYTES, mvex.start);
  return grown;
}

/** Padding (§8.1.2) of `bytes`, header included; 0: none. */
const freeBox = (bytes: number): Buffer =>
  bytes === 0 ? Buffer.alloc(0) : Buffer.concat([boxHeader('free', bytes)], bytes);

function writeMediaDuration(bytes: Buffer, box: Box, seconds: number): void {
  const timescale = readTimescale(bytes, box);
  if (timescale !== undefined) writeDuration(bytes, box, MEDIA_TIMES, Math.round(seconds * timescale));
}

function readTimescale(bytes: Buffer, box: Box): number | undefined {
  const field = MEDIA_TIMES[versionOf(bytes, box)]?.timescale;
  return field !== undefined && box.content + field + 4 <= box.end
    ? bytes.readUInt32BE(box.content + field)
    : undefined;
}

function writeDuration(
  bytes: Buffer,
  box: Box,
  fields: readonly { readonly duration: number; readonly end: number }[],
  value: number,
): void {
  const version = versionOf(bytes, box);
  const field = fields[version];
  if (!field || box.content + field.end > box.end) return;
  const at = box.content + field.duration;
  if (version === 1) bytes.writeBigUInt64BE(BigInt(value), at);
  else bytes.writeUInt32BE(Math.min(value, UNKNOWN_32), at);
}

/** -1 without content. Boxes of an undefined version are left unchanged. */
const versionOf = (bytes: Buffer, box: Box) => (box.content < box.end ? bytes.readUInt8(box.content) : -1);
