/** Packets of an MPEG transport stream (ISO/IEC 13818-1 §2.4.3). */

export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;
/** Timestamps count 1/90,000 s in 33 bits (§2.4.3.7). */
export const CLOCK_HZ = 90_000;
export const CLOCK_PERIOD = 2 ** 33;

/** The stream that a packet belongs to. */
export const pidOf = (packet: Buffer): number => packet.readUInt16BE(1) & 0x1fff;

/** The payload of a packet in which a section or a PES packet starts; else undefined. */
export function payloadStart(packet: Buffer): Buffer | undefined {
  const control = packet.readUInt8(3);
  const isStart = (packet.readUInt8(1) & 0x40) !== 0 && (control & 0x10) !== 0;
  return isStart ? packet.subarray(4 + (control & 0x20 ? 1 + packet.readUInt8(4) : 0)) : undefined;
}

export const SECTION_HEADER_BYTES = 8;

/** The first programme of a program association (§2.4.4.3); number 0 is the network information. */
export function readMapPid(section: Buffer): number | undefined {
  for (let at = SECTION_HEADER_BYTES; at + 4 <= section.length; at += 4)
    if (section.readUInt16BE(at) !== 0) return section.readUInt16BE(at + 2) & 0x1fff;
  return undefined;
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
