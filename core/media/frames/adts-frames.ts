import { type AuditedUnits, missingSeconds } from './frame-scanner.ts';

const HEADER_BYTES = 7;
const SAMPLES_PER_BLOCK = 1024;
/** Hz, by index (ISO/IEC 14496-3 §1.6.3.4). */
const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Packed AAC (RFC 8216 §3.4): ADTS frames behind an ID3 tag. Undefined when `head` is something else. */
export function adtsUnits(head: Buffer, seconds: number): AuditedUnits | undefined {
  const isTag = (header: Buffer) => header.toString('latin1', 0, 3) === 'ID3';
  const isFrame = (header: Buffer) => header.length >= 2 && (header.readUInt16BE(0) & 0xfff6) === 0xfff0;
  // A tag stands before other things too: only a frame behind it tells.
  const at = isTag(head) && head.length >= 10 ? tagBytes(head) : 0;
  if (!isFrame(head.subarray(at))) return undefined;
  let found = 0;
  return {
    headerBytes: HEADER_BYTES,
    mayBegin: (byte) => byte === 0xff || byte === 0x49,
    read(header) {
      if (isTag(header)) return header.length < 10 ? { needs: 10 } : tagBytes(header);
      if (!isFrame(header)) return undefined;
      const rate = SAMPLE_RATES[(header.readUInt8(2) >> 2) & 0x0f];
      if (rate) found += (((header.readUInt8(6) & 0x03) + 1) * SAMPLES_PER_BLOCK) / rate;
      return (header.readUIntBE(3, 3) >> 5) & 0x1fff;
    },
    missing: () => missingSeconds(found, seconds),
  };
}

/** Bytes of an ID3v2 tag, header included: its length has 7 bits in each byte. */
const tagBytes = (header: Buffer): number =>
  10 + [6, 7, 8, 9].reduce((length, at) => length * 128 + (header.readUInt8(at) & 0x7f), 0);
