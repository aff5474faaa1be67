import { MP3_SAMPLES_PER_FRAME, type Mp3BitrateKbps, mp3FrameBytes } from '../../../core/conversions/index.ts';

/** Samples by which LAME's output is later than its input. */
const ENCODER_DELAY = 576;
/** Samples by which a decoder of Layer III is later: players take it for granted. */
const DECODER_DELAY = 529;
/** Both. */
export const MP3_DELAY_SAMPLES = ENCODER_DELAY + DECODER_DELAY;

/** The first two bytes of MPEG-1 Layer III without a checksum (ISO/IEC 11172-3 §2.4.1.3). */
const SYNC = 0xfffb;
/** `bitrate_index` of Layer III. */
const BITRATE_INDEXES: Readonly<Record<Mp3BitrateKbps, number>> = { 128: 9, 192: 11, 256: 13, 320: 14 };
const SAMPLE_RATE_INDEX = 1; // 48 kHz.
/** Joint stereo and `original`, as LAME's frames have them. */
const MODE = 0x44;
/** Behind the header and 32 bytes of side information. */
const INFO_AT = 4 + 32;
/** The fields that follow: frames, bytes, places to seek to, quality. */
const ALL_FIELDS = 0x0f;
const TOC_ENTRIES = 100;
const CONSTANT_BITRATE = 1;
/** Delay and padding have 12 bits each. */
const MAX_PADDING = 0xfff;

export interface GaplessLength {
  /** Frames that follow. */
  readonly frames: number;
  readonly bitrateKbps: Mp3BitrateKbps;
  /** Samples of the first frame before the start, besides the delay: less than a frame. */
  readonly skippedSamples: number;
  /** Samples of the frames up to the end, the delay included. */
  readonly endSample: number;
}

/**
 * The frame in front of an MP3 from which players learn how much of its beginning and end is not sound: it decodes to
 * silence, and has fields of Xing and LAME (http://gabriel.mp3-tech.org/mp3infotag.html).
 */
export function infoFrame({ frames, bitrateKbps, skippedSamples, endSample }: GaplessLength): Buffer {
  const frame = Buffer.alloc(mp3FrameBytes(bitrateKbps));
  const bytes = (frames + 1) * frame.length;
  const padding = frames * MP3_SAMPLES_PER_FRAME - endSample + DECODER_DELAY;
  frame.writeUInt16BE(SYNC, 0);
  frame.writeUInt8((BITRATE_INDEXES[bitrateKbps] << 4) | (SAMPLE_RATE_INDEX << 2), 2);
  frame.writeUInt8(MODE, 3);
  let at = frame.write('Info', INFO_AT, 'latin1') + INFO_AT;
  at = frame.writeUInt32BE(ALL_FIELDS, at);
  at = frame.writeUInt32BE(Math.min(frames, 0xffff_ffff), at);
  at = frame.writeUInt32BE(Math.min(bytes, 0xffff_ffff), at);
  for (let entry = 0; entry < TOC_ENTRIES; entry += 1) at = frame.writeUInt8((entry * 256) / TOC_ENTRIES, at);
  at += 4; // Quality.
  at += frame.write('LAME3.100', at, 'latin1');
  at = frame.writeUInt8(CONSTANT_BITRATE, at);
  at += 1 + 4 + 2 + 2 + 1; // Low-pass, peak, gains, options.
  at = frame.writeUInt8(Math.min(bitrateKbps, 0xff), at);
  at = frame.writeUIntBE((ENCODER_DELAY + skippedSamples) * 0x1000 + Math.min(padding, MAX_PADDING), at, 3);
  at += 1 + 1 + 2; // Options, gain, preset.
  at = frame.writeUInt32BE(Math.min(bytes, 0xffff_ffff), at);
  at += 2; // Checksum of the music.
  frame.writeUInt16BE(checksum(frame.subarray(0, at)), at);
  return frame;
}

/** CRC-16/ARC. */
function checksum(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  }
  return crc;
}
