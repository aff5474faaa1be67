/** Packets of an MPEG transport stream (ISO/IEC 13818-1 §2.4.3). */

export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;
/** Timestamps count 1/90,000 s in 33 bits (§2.4.3.7). */
export const CLOCK_HZ = 90_000;

/** The stream that a packet belongs to. */
export const pidOf = (packet: Buffer): number => packet.readUInt16BE(1) & 0x1fff;

/** The payload of a packet in which a section or a PES packet starts; else undefined. */
export function payloadStart(packet: Buffer): Buffer | undefined {
  const control = packet.readUInt8(3);
  const isStart = (packet.readUInt8(1) & 0x40) !== 0 && (control & 0x10) !== 0;
  return isStart ? packet.subarray(4 + (control & 0x20 ? 1 + packet.readUInt8(4) : 0)) : undefined;
}

/** The start of a PES packet. */
export interface PesStart {
  /** The timestamp of audio or video; undefined when it is of another kind or has none. */
  readonly ticks: number | undefined;
}

/** Undefined for a payload that is no start of a PES packet with its fields in front (§2.4.3.6). */
export function readPesStart(payload: Buffer): PesStart | undefined {
  if (payload.length < 14 || payload.readUIntBE(0, 3) !== 1) return undefined;
  // MPEG, private stream 1 (AC-3), and extended ids.
  const id = payload.readUInt8(3);
  const isTimed = (id >= 0xc0 && id <= 0xef) || id === 0xbd || id === 0xfd;
  if (!isTimed || (payload.readUInt8(7) & 0x80) === 0) return { ticks: undefined };
  // 33 bits in five bytes, with marker bits.
  const high = (payload.readUInt8(9) >> 1) & 0x07;
  return {
    ticks: high * 2 ** 30 + (payload.readUInt16BE(10) >> 1) * 2 ** 15 + (payload.readUInt16BE(12) >> 1),
  };
}
