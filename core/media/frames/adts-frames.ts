import { ID3_HEADER_BYTES, id3TagBytes, isId3Tag } from '../id3/index.ts';
import { describeShortfall, type FrameCheck } from './frame-scanner.ts';

const HEADER_BYTES = 7;
const SAMPLES_PER_BLOCK = 1024;
/** Hz, by index (ISO/IEC 14496-3 §1.6.3.4). */
const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

/** Checks packed AAC (RFC 8216 §3.4): ADTS frames, with or without an ID3 tag. Undefined when `head` is not ADTS. */
export function createAdtsCheck(head: Buffer, seconds: number): FrameCheck | undefined {
  const isFrame = (header: Buffer) => header.length >= 2 && (header.readUInt16BE(0) & 0xfff6) === 0xfff0;
  // Other formats may begin with an ID3 tag, too.
  if (!isFrame(head.subarray(id3TagBytes(head)))) return undefined;
  let found = 0;
  return {
    headerBytes: HEADER_BYTES,
    mayBegin: (byte) => byte === 0xff || byte === 0x49,
    read(header) {
      if (isId3Tag(header)) return header.length < ID3_HEADER_BYTES ? { needs: ID3_HEADER_BYTES } : id3TagBytes(header);
      if (!isFrame(header)) return undefined;
      const rate = SAMPLE_RATES[(header.readUInt8(2) >> 2) & 0x0f];
      if (rate) found += (((header.readUInt8(6) & 0x03) + 1) * SAMPLES_PER_BLOCK) / rate;
      return (header.readUIntBE(3, 3) >> 5) & 0x1fff;
    },
    problem: () => describeShortfall(found, seconds),
  };
}
