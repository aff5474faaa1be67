import type { SegmentStart } from './segment-start.ts';

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** Timestamps count 1/90,000 s (ISO/IEC 13818-1 §2.4.3.7). */
const CLOCK_HZ = 90_000;
/** Stream types of sound (§2.4.4.9, ATSC A/52 annex A): MPEG audio, AAC in ADTS frames, in LATM, AC-3, E-AC-3. */
const AAC_IN_FRAMES = 0x0f;
const SOUND = new Set([0x03, 0x04, AAC_IN_FRAMES, 0x11, 0x81, 0x87]);
/** A section's head, and what lies before the first stream of a program map (§2.4.4.8). */
const SECTION_HEAD_BYTES = 8;
const MAP_HEAD_BYTES = 12;
const CRC_BYTES = 4;

/** How an MPEG transport stream begins: its first program's map and the first timestamp. Undefined: it is none. */
export function probeMpegTsStart(head: Buffer): (SegmentStart & { readonly isComplete: boolean }) | undefined {
  if (head[0] !== SYNC || (head.length > PACKET_BYTES && head[PACKET_BYTES] !== SYNC)) return undefined;
  let mapPid: number | undefined;
  let types: number[] | undefined;
  let startSeconds: number | undefined;
  for (let at = 0; at + PACKET_BYTES <= head.length && !(types && startSeconds !== undefined); at += PACKET_BYTES) {
    const packet = head.subarray(at, at + PACKET_BYTES);
    const payload = payloadOf(packet);
    const pid = packet.readUInt16BE(1) & 0x1fff;
    if (!payload) continue;
    if (pid === 0) mapPid ??= readMapPid(sectionOf(payload));
    else if (pid === mapPid) types ??= readTypes(sectionOf(payload));
    else startSeconds ??= readTimestamp(payload);
  }
  return {
    isFramedAac: types && types.find((type) => SOUND.has(type)) === AAC_IN_FRAMES,
    startSeconds,
    isComplete: types !== undefined && startSeconds !== undefined,
  };
}

/** What a packet carries when something begins in it. */
function payloadOf(packet: Buffer): Buffer | undefined {
  const control = packet.readUInt8(3);
  const isStart = (packet.readUInt8(1) & 0x40) !== 0 && (control & 0x10) !== 0;
  return isStart ? packet.subarray(4 + (control & 0x20 ? 1 + packet.readUInt8(4) : 0)) : undefined;
}

/** The section behind the pointer to it, as far as it lies in this packet. */
const sectionOf = (payload: Buffer): Buffer => payload.subarray(1 + (payload[0] ?? 0));

/** The first program of a program association (§2.4.4.3); number 0 is none. */
function readMapPid(section: Buffer): number | undefined {
  for (let at = SECTION_HEAD_BYTES; at + 4 <= section.length; at += 4) {
    if (section.readUInt16BE(at) !== 0) return section.readUInt16BE(at + 2) & 0x1fff;
  }
  return undefined;
}

function readTypes(section: Buffer): number[] | undefined {
  if (section.length < MAP_HEAD_BYTES) return undefined;
  const end = Math.min(3 + (section.readUInt16BE(1) & 0xfff) - CRC_BYTES, section.length);
  const types: number[] = [];
  for (let at = MAP_HEAD_BYTES + (section.readUInt16BE(10) & 0xfff); at + 5 <= end; ) {
    types.push(section.readUInt8(at));
    at += 5 + (section.readUInt16BE(at + 3) & 0xfff);
  }
  return types;
}

/** Seconds; undefined when no sound or picture begins here, or it does not say when (§2.4.3.6). */
function readTimestamp(payload: Buffer): number | undefined {
  if (payload.length < 14 || payload.readUIntBE(0, 3) !== 1) return undefined;
  const id = payload.readUInt8(3);
  const isTimed = (id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd;
  if (!isTimed || (payload.readUInt8(7) & 0x80) === 0) return undefined;
  const high = (payload.readUInt8(9) >> 1) & 0x07;
  const ticks = high * 2 ** 30 + (payload.readUInt16BE(10) >> 1) * 2 ** 15 + (payload.readUInt16BE(12) >> 1);
  return ticks / CLOCK_HZ;
}
