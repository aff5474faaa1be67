import { CLOCK_HZ, PACKET_BYTES, payloadStart, pidOf, readMapPid, readPesStart, SYNC_BYTE } from '../mpegts/index.ts';

/** Facts from the first bytes of a segment. */
export interface SegmentStart {
  /** Whether the first audio stream is AAC in ADTS frames; undefined when unknown. */
  readonly isFramedAac?: boolean | undefined;
  /** First timestamp, seconds; undefined when the format has no timestamps that other tracks share. */
  readonly startSeconds?: number | undefined;
}

/** Stream types of audio (§2.4.4.9, ATSC A/52 annex A): MPEG audio, AAC in ADTS frames, in LATM, AC-3, E-AC-3. */
const ADTS_AAC = 0x0f;
const AUDIO_TYPES = new Set([0x03, 0x04, ADTS_AAC, 0x11, 0x81, 0x87]);
/** Bytes of a program map before its first stream (§2.4.4.8). */
const MAP_HEADER_BYTES = 12;
const CRC_BYTES = 4;

/** Reads the map of the first program and the first timestamp. Undefined when `head` is not MPEG-TS. */
export function probeMpegTsStart(head: Buffer): (SegmentStart & { readonly isComplete: boolean }) | undefined {
  const start = readStart(head);
  if (!start) return undefined;
  const { types, startSeconds } = start;
  return {
    isFramedAac: types && types.find((type) => AUDIO_TYPES.has(type)) === ADTS_AAC,
    startSeconds,
    isComplete: types !== undefined && startSeconds !== undefined,
  };
}

/** The types of the streams of the first program (§2.4.4.9). Empty when `head` is not MPEG-TS, or has no program map. */
export const readStreamTypes = (head: Buffer): readonly number[] => readStart(head)?.types ?? [];

function readStart(head: Buffer): { readonly types?: number[]; readonly startSeconds?: number } | undefined {
  if (head[0] !== SYNC_BYTE || (head.length > PACKET_BYTES && head[PACKET_BYTES] !== SYNC_BYTE)) return undefined;
  let mapPid: number | undefined;
  let types: number[] | undefined;
  let startSeconds: number | undefined;
  for (let at = 0; at + PACKET_BYTES <= head.length && !(types && startSeconds !== undefined); at += PACKET_BYTES) {
    const packet = head.subarray(at, at + PACKET_BYTES);
    const payload = payloadStart(packet);
    const pid = pidOf(packet);
    if (!payload) continue;
    if (pid === 0) mapPid ??= readMapPid(sectionOf(payload));
    else if (pid === mapPid) types ??= readTypes(sectionOf(payload));
    else startSeconds ??= readSeconds(payload);
  }
  return { types, startSeconds };
}

/** The section after its pointer field, as far as this packet holds it. */
const sectionOf = (payload: Buffer): Buffer => payload.subarray(1 + (payload[0] ?? 0));

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

/** Undefined when this is not the start of an audio or video PES packet, or has no timestamp. */
function readSeconds(payload: Buffer): number | undefined {
  const ticks = readPesStart(payload)?.ticks;
  return ticks === undefined ? undefined : ticks / CLOCK_HZ;
}
