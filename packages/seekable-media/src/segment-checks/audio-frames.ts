import { ID3_HEADER_BYTES, id3TagBytes, isId3Tag } from '../tags/id3.ts';
import { describeShortfall, type FrameCheck } from './frame-scanner.ts';

/** Bytes of a header that tell the length of any of these frames. */
const HEADER_BYTES = 7;
/** Hz, by index (ISO/IEC 14496-3 §1.6.3.4). */
const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** Hz, by index, of MPEG-1; halved for MPEG-2 and again for 2.5 (ISO/IEC 11172-3 §2.4.2.3). */
const MPEG_RATES = [44_100, 48_000, 32_000];
/** kbit/s, by index: of MPEG-1 layer 1, 2, 3, and of MPEG-2 layer 1, and 2 and 3. */
const MPEG_BITRATES = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
/** Hz, by index, and kbit/s, by half the index (ATSC A/52 §5.4.1). */
const AC3_RATES = [48_000, 44_100, 32_000];
const AC3_BITRATES = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640];
const AC3_SAMPLES = 1536;
const EAC3_BLOCKS = [1, 2, 3, 6];

/** Length and duration of one frame. */
export interface AudioFrame {
  readonly bytes: number;
  readonly seconds: number;
  /** Hz; 0: unknown. */
  readonly rate: number;
}

/** @param header at least 7 bytes. @returns undefined where no frame begins */
export type ReadFrame = (header: Buffer) => AudioFrame | undefined;

export const readAdts: ReadFrame = (header) => {
  const rate = AAC_RATES[(header.readUInt8(2) >> 2) & 0x0f] ?? 0;
  if ((header.readUInt16BE(0) & 0xfff6) !== 0xfff0) return undefined;
  const blocks = (header.readUInt8(6) & 0x03) + 1;
  return { bytes: (header.readUIntBE(3, 3) >> 5) & 0x1fff, seconds: rate ? (blocks * 1024) / rate : 0, rate };
};

export const readMpegAudio: ReadFrame = (header) => {
  const word = header.readUInt32BE(0);
  const version = (word >> 19) & 0x03;
  const layer = 4 - ((word >> 17) & 0x03);
  const baseRate = MPEG_RATES[(word >> 10) & 0x03];
  if (word >>> 21 !== 0x7ff || version === 1 || layer === 4 || !baseRate) return undefined;
  const isMpeg1 = version === 3;
  const kbps = MPEG_BITRATES[isMpeg1 ? layer - 1 : layer === 1 ? 3 : 4]?.[(word >> 12) & 0x0f];
  // Index 0 leaves the length open.
  if (!kbps) return undefined;
  const rate = baseRate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 1 ? 384 : layer === 3 && !isMpeg1 ? 576 : 1152;
  const slotBytes = layer === 1 ? 4 : 1;
  const slots = Math.floor((samples * kbps * 125) / rate / slotBytes) + ((word >> 9) & 1);
  return { bytes: slots * slotBytes, seconds: samples / rate, rate };
};

export const readAc3: ReadFrame = (header) => {
  if (header.readUInt16BE(0) !== 0x0b77) return undefined;
  const code = header.readUInt8(4);
  if (header.readUInt8(5) >> 3 > 10) {
    const rate = AC3_RATES[code >> 6] ?? 24_000;
    const blocks = code >> 6 === 3 ? 6 : (EAC3_BLOCKS[(code >> 4) & 0x03] ?? 6);
    // What depends on another stream adds no time.
    const isDependent = header.readUInt8(2) >> 6 === 1;
    return {
      bytes: ((header.readUInt16BE(2) & 0x7ff) + 1) * 2,
      seconds: isDependent ? 0 : (blocks * 256) / rate,
      rate,
    };
  }
  const rate = AC3_RATES[code >> 6];
  const kbps = AC3_BITRATES[(code & 0x3f) >> 1];
  if (!rate || !kbps) return undefined;
  const words = Math.floor((AC3_SAMPLES * kbps * 1000) / rate / 16) + (rate === 44_100 ? code & 1 : 0);
  return { bytes: words * 2, seconds: AC3_SAMPLES / rate, rate };
};

const READERS = [readAdts, readMpegAudio, readAc3];

/** The reader of the frames of which one begins at an offset, and another behind it as far as that is there. */
function readerAt(head: Buffer, start: number): ReadFrame | undefined {
  return READERS.find((read) => {
    if (head.length < start + HEADER_BYTES) return false;
    const frame = read(head.subarray(start));
    const next = frame && frame.bytes >= HEADER_BYTES ? head.subarray(start + frame.bytes) : undefined;
    return next !== undefined && (next.length < HEADER_BYTES || isId3Tag(next) || read(next) !== undefined);
  });
}

/**
 * Checks packed audio (RFC 8216 §3.4): frames of AAC with ADTS, MPEG audio, AC-3 or E-AC-3, with or without ID3 tags.
 * @returns undefined for any other data
 */
export function createAudioCheck(head: Buffer, seconds: number): FrameCheck | undefined {
  const read = readerAt(head, id3TagBytes(head));
  if (!read) return undefined;
  let found = 0;
  return {
    headerBytes: HEADER_BYTES,
    mayBegin: (byte) => byte === 0xff || byte === 0x49 || byte === 0x0b,
    read(header) {
      if (isId3Tag(header)) return header.length < ID3_HEADER_BYTES ? { needs: ID3_HEADER_BYTES } : id3TagBytes(header);
      const frame = read(header);
      found += frame?.seconds ?? 0;
      return frame?.bytes;
    },
    problem: () => describeShortfall(found, seconds),
  };
}
