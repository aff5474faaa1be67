/** Facts from the first bytes of a segment. */
export interface SegmentStart {
  /** Whether the first audio stream is AAC in ADTS frames; undefined when unknown. */
  readonly isFramedAac?: boolean | undefined;
  /** First timestamp, seconds; undefined when the format has no timestamps that other tracks share. */
  readonly startSeconds?: number | undefined;
}

const PACKET_BYTES = 188;
const SYNC = 0x47;
/** Timestamps count 1/90,000 s (ISO/IEC 13818-1 §2.4.3.7). */
const CLOCK_HZ = 90_000;
/** Stream types of audio (§2.4.4.9, ATSC A/52 annex A): MPEG audio, AAC in ADTS frames, in LATM, AC-3, E-AC-3. */
const ADTS_AAC = 0x0f;
const AUDIO_TYPES = new Set([0x03, 0x04, ADTS_AAC, 0x11, 0x81, 0x87]);
/** Bytes of a section header, and of a program map before its first stream (§2.4.4.8). */
const SECTION_HEADER_BYTES = 8;
const MAP_HEADER_BYTES = 12;
const CRC_BYTES = 4;

/** Reads the map of the first program and the first timestamp. Undefined when `head` is not MPEG-TS. */
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
    isFramedAac: types && types.find((type) => AUDIO_TYPES.has(type)) === ADTS_AAC,
    startSeconds,
    isComplete: types !== undefined && startSeconds !== undefined,
  };
}

/** The payload of a packet in which a section or PES packet starts; else undefined. */
function payloadOf(packet: Buffer): Buffer | undefined {
  const control = packet.readUInt8(3);
  const isStart = (packet.readUInt8(1) & 0x40) !== 0 && (control & 0x10) !== 0;
  return isStart ? packet.subarray(4 + (control & 0x20 ? 1 + packet.readUInt8(4) : 0)) : undefined;
}

/** The section after its pointer field, as far as this packet holds it. */
const sectionOf = (payload: Buffer): Buffer => payload.subarray(1 + (payload[0] ?? 0));

/** The first program of a program association (§2.4.4.3); number 0 is the network information. */
function readMapPid(section: Buffer): number | undefined {
  for (let at = SECTION_HEADER_BYTES; at + 4 <= section.length; at += 4) {
    if (section.readUInt16BE(at) !== 0) return section.readUInt16BE(at + 2) & 0x1fff;
  }
  return undefined;
}

function readTypes(section: Buffer): number[] | undefined {
  if (section.length < MAP_HEADER_BYTES) return undefined;
  const end = Math.min(3 + (section.readUInt16BE(1) & 0xfff) - CRC_BYTES, section.length);
  const types: number[] = [];
  for (let at = MAP_HEADER_BYTES + (section.readUInt16BE(10) & 0xfff); at + 5 <= end; ) {
    types.push(section.readUInt8(at));
    at += 5 + (section.readUInt16BE(at + 3) & 0xfff);
  }
  return types;
}

/** Seconds; undefined when this is not the start of an audio or video PES packet, or has no timestamp (§2.4.3.6). */
function readTimestamp(payload: Buffer): number | undefined {
  if (payload.length < 14 || payload.readUIntBE(0, 3) !== 1) return undefined;
  const id = payload.readUInt8(3);
  const isTimed = (id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd;
  if (!isTimed || (payload.readUInt8(7) & 0x80) === 0) return undefined;
  const high = (payload.readUInt8(9) >> 1) & 0x07;
  const ticks = high * 2 ** 30 + (payload.readUInt16BE(10) >> 1) * 2 ** 15 + (payload.readUInt16BE(12) >> 1);
  return ticks / CLOCK_HZ;
}
