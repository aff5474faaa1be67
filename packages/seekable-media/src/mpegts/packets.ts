/** Packets of an MPEG transport stream (ISO/IEC 13818-1 §2.4.3). */

export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;
/** Timestamps count 1/90,000 s in 33 bits (§2.4.3.7). */
export const CLOCK_HZ = 90_000;
export const CLOCK_PERIOD = 2 ** 33;

/**
 * The 32 bits that a packet begins with (§2.4.3.2), of which the functions below read one field each. They are a number because
 * an object for each packet would cost more than the copy of its payload.
 */
export const packetHeader = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at);

/** The stream that a packet belongs to. */
export const pidOf = (header: number): number => (header >> 8) & 0x1fff;
/** Whether a section or a PES packet starts in it. */
export const isStart = (header: number): boolean => (header & 0x40_0000) !== 0;
export const isScrambled = (header: number): boolean => (header & 0xc0) !== 0;
export const hasPayload = (header: number): boolean => (header & 0x10) !== 0;
/** Counts the packets of a stream that have a payload. */
export const continuityCounter = (header: number): number => header & 0x0f;
/** Where the payload of a packet at an offset begins: after an adaptation field, which may extend beyond the packet. */
export const payloadOffset = (bytes: Buffer, at: number, header: number): number =>
  at + 4 + (header & 0x20 ? 1 + bytes.readUInt8(at + 4) : 0);

/** The payload of a packet in which a section or a PES packet starts; else undefined. */
export function startedPayload(bytes: Buffer, at: number): Buffer | undefined {
  const header = packetHeader(bytes, at);
  if (!isStart(header) || !hasPayload(header)) return undefined;
  return bytes.subarray(payloadOffset(bytes, at, header), at + PACKET_BYTES);
}

const SECTION_HEADER_BYTES = 8;
/** Bytes of a program map before its first stream (§2.4.4.8). */
const MAP_HEADER_BYTES = 12;
const CRC_BYTES = 4;

/** A table (§2.4.4) that starts in a packet. */
interface Section {
  /** Without pointer field and checksum, as far as the packet contains it. */
  readonly bytes: Buffer;
  /** False: it continues in another packet. */
  readonly isWhole: boolean;
}

export function readSection(payload: Buffer): Section {
  const section = payload.subarray(1 + (payload[0] ?? 0));
  if (section.length < SECTION_HEADER_BYTES) return { bytes: section, isWhole: false };
  const end = 3 + (section.readUInt16BE(1) & 0xfff);
  return { bytes: section.subarray(0, Math.max(0, end - CRC_BYTES)), isWhole: end <= section.length };
}

/** The packet id of the map of the first programme in a program association (§2.4.4.3); number 0 is the network information. */
export function readMapPid({ bytes }: Section): number | undefined {
  for (let at = SECTION_HEADER_BYTES; at + 4 <= bytes.length; at += 4)
    if (bytes.readUInt16BE(at) !== 0) return bytes.readUInt16BE(at + 2) & 0x1fff;
  return undefined;
}

/** A stream of a programme. */
interface MappedStream {
  /** `stream_type` (§2.4.4.9). */
  readonly type: number;
  readonly pid: number;
  readonly descriptors: Buffer;
}

/** The streams of a program map (§2.4.4.8); undefined where it is too short to be one. */
export function readProgramMap({ bytes }: Section): readonly MappedStream[] | undefined {
  if (bytes.length < MAP_HEADER_BYTES) return undefined;
  const streams: MappedStream[] = [];
  for (let at = MAP_HEADER_BYTES + (bytes.readUInt16BE(10) & 0xfff); at + 5 <= bytes.length; ) {
    const end = at + 5 + (bytes.readUInt16BE(at + 3) & 0xfff);
    const pid = bytes.readUInt16BE(at + 1) & 0x1fff;
    streams.push({ type: bytes.readUInt8(at), pid, descriptors: bytes.subarray(at + 5, end) });
    at = end;
  }
  return streams;
}

/** The start of a PES packet. */
interface PesStart {
  /** The timestamp of audio or video; undefined when it is of another kind or has none. */
  readonly ticks: number | undefined;
  /** When it is decoded. @default ticks */
  readonly decodeTicks: number | undefined;
  readonly isScrambled: boolean;
  /** Where its data begins. */
  readonly dataAt: number;
}

/** Undefined for a payload that is no start of a PES packet with its fields in front (§2.4.3.6). */
export function readPesStart(payload: Buffer): PesStart | undefined {
  if (payload.length < 14 || payload.readUIntBE(0, 3) !== 1) return undefined;
  // MPEG, private stream 1 (AC-3), and extended ids.
  const id = payload.readUInt8(3);
  const flags = payload.readUInt8(7) >> 6;
  const isTimed = ((id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd) && (flags & 2) !== 0;
  const ticks = isTimed ? readTicks(payload, 9) : undefined;
  return {
    ticks,
    decodeTicks: isTimed && flags === 3 && payload.length >= 19 ? readTicks(payload, 14) : ticks,
    isScrambled: (payload.readUInt8(6) & 0x30) !== 0,
    dataAt: 9 + payload.readUInt8(8),
  };
}

/** 33 bits in five bytes, with marker bits. */
function readTicks(payload: Buffer, at: number): number {
  const high = (payload.readUInt8(at) >> 1) & 0x07;
  return high * 2 ** 30 + (payload.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (payload.readUInt16BE(at + 3) >> 1);
}

/** How far a time is behind another, by less than half of the clock's period. */
export function ticksBetween(before: number, after: number): number {
  const difference = after - before;
  return difference - Math.round(difference / CLOCK_PERIOD) * CLOCK_PERIOD;
}
