import { box, fullBox, UnsupportedMp4, u32 } from '../isobmff/index.ts';
import type { EsCodec } from '../mpegts/demux.ts';
import { type AudioFrame, type ReadFrame, readAc3, readAdts, readMpegAudio } from '../segment-checks/audio-frames.ts';
import { BitReader } from './nal-units.ts';
import { u8, u16 } from './video-codec.ts';

/** A frame of audio as a sample of MP4. */
export interface AudioSample {
  /** Bytes in front that MP4 does not have. */
  readonly headerBytes: number;
  /** With them. */
  readonly bytes: number;
  /** Samples of sound in each channel. */
  readonly duration: number;
  readonly rate: number;
  /** The same for all frames that one sample entry describes. */
  readonly signature: string;
  describe(): Buffer;
}

/** Bytes that `readSample` needs of a frame. */
export const FRAME_HEADER_BYTES = 10;
/** Bytes of the shortest frames that `trun` may state the size of, and whose header MP4 keeps: MPEG audio and AC-3. */
export const MIN_FRAME_BYTES = 24;
/** Blocks of all streams of E-AC-3 make up a sample of this duration (ETSI TS 102 366 annex F). */
const AC3_DURATION = 1536;
/** Full-range channels, by `acmod`. */
const AC3_CHANNELS = [2, 1, 2, 3, 3, 4, 4, 5];

/** @param header at least `FRAME_HEADER_BYTES`. @returns undefined where no frame begins. @throws UnsupportedMp4 */
type ReadSample = (header: Buffer) => AudioSample | undefined;

const toSample = (
  frame: AudioFrame,
  more: Pick<AudioSample, 'signature' | 'describe'>,
  headerBytes = 0,
): AudioSample => ({
  headerBytes,
  bytes: frame.bytes,
  duration: Math.round(frame.seconds * frame.rate),
  rate: frame.rate,
  signature: more.signature,
  describe: more.describe,
});

/** Reads a frame where the source has it. */
const withFrame =
  (read: ReadFrame, readSample: (header: Buffer, frame: AudioFrame) => AudioSample): ReadSample =>
  (header) => {
    const frame = read(header);
    return frame && frame.bytes >= FRAME_HEADER_BYTES - 2 ? readSample(header, frame) : undefined;
  };

const readAac = withFrame(readAdts, (header, frame) => {
  const fields = header.readUInt16BE(2);
  const type = (fields >> 14) + 1;
  const rateIndex = (fields >> 10) & 0x0f;
  const channels = (fields >> 6) & 0x07;
  const headerBytes = header.readUInt8(1) & 1 ? 7 : 9;
  // Channels that the stream describes, or several blocks in one frame.
  const isOther = channels === 0 || frame.rate === 0 || (header.readUInt8(6) & 0x03) !== 0;
  if (isOther || frame.bytes < headerBytes) throw new UnsupportedMp4('AAC in ADTS');
  const configuration = (type << 11) | (rateIndex << 7) | (channels << 3);
  const describe = () => mp4aEntry({ ...frame, channels: channels === 7 ? 8 : channels }, 0x40, u16(configuration));
  return toSample(frame, { signature: String(configuration), describe }, headerBytes);
});

const readMp3 = withFrame(readMpegAudio, (header, frame) => {
  const version = (header.readUInt8(1) >> 3) & 0x03;
  const layer = 4 - ((header.readUInt8(1) >> 1) & 0x03);
  if (layer !== 3) throw new UnsupportedMp4(`MPEG audio of layer ${layer}`);
  const channels = header.readUInt8(3) >> 6 === 3 ? 1 : 2;
  const describe = () => mp4aEntry({ ...frame, channels }, version === 3 ? 0x6b : 0x69, undefined);
  return toSample(frame, { signature: `${frame.rate} ${channels}`, describe });
});

const readDolby = withFrame(readAc3, (header, frame) => {
  const isEnhanced = header.readUInt8(5) >> 3 > 10;
  const sample = isEnhanced ? readEnhanced(header, frame) : readBasic(header, frame);
  if (sample.duration !== AC3_DURATION) throw new UnsupportedMp4('E-AC-3 of several frames a sample');
  return sample;
});

/** `bsi` of AC-3 (ATSC A/52 §5.4.2), and `AC3SpecificBox`. */
function readBasic(header: Buffer, frame: AudioFrame): AudioSample {
  const rateCode = header.readUInt8(4) >> 6;
  const sizeCode = header.readUInt8(4) & 0x3f;
  const reader = new BitReader(header.subarray(5));
  const [id, mode, channels] = [reader.bits(5), reader.bits(3), reader.bits(3)] as const;
  if (channels & 1 && channels !== 1) reader.discard(2);
  if (channels & 4) reader.discard(2);
  if (channels === 2) reader.discard(2);
  const lowFrequency = reader.bit();
  const fields = (rateCode << 22) | (id << 17) | (mode << 14) | (channels << 11) | (lowFrequency << 10);
  const configuration = fields | ((sizeCode >> 1) << 5);
  const count = (AC3_CHANNELS[channels] ?? 2) + lowFrequency;
  const describe = () => audioEntry('ac-3', { ...frame, channels: count }, box('dac3', u32(configuration).subarray(1)));
  return toSample(frame, { signature: String(configuration), describe });
}

/** `bsi` of E-AC-3 (annex E), and `EC3SpecificBox`: one independent stream. */
function readEnhanced(header: Buffer, frame: AudioFrame): AudioSample {
  const reader = new BitReader(header.subarray(2));
  const [type, stream] = [reader.bits(2), reader.bits(3)] as const;
  if (type === 1 || stream !== 0) throw new UnsupportedMp4('E-AC-3 of several streams');
  reader.discard(11);
  const rateCode = reader.bits(2);
  reader.discard(2);
  const channels = reader.bits(3);
  const lowFrequency = reader.bit();
  const id = reader.bits(5);
  const fields = (rateCode << 22) | (id << 17) | (channels << 9) | (lowFrequency << 8);
  const describe = () => {
    const kbps = Math.round((frame.bytes * 8) / frame.seconds / 1000);
    // 13 bits of the rate, and one stream.
    const configuration = Buffer.concat([u16((kbps << 3) & 0xffff), u32(fields).subarray(1)]);
    const count = (AC3_CHANNELS[channels] ?? 2) + lowFrequency;
    return audioEntry('ec-3', { ...frame, channels: count }, box('dec3', configuration));
  };
  return toSample(frame, { signature: `${fields} ${frame.rate}`, describe });
}

const SAMPLES: Readonly<Partial<Record<EsCodec, ReadSample>>> = {
  aac: readAac,
  mpeg: readMp3,
  ac3: readDolby,
  eac3: readDolby,
};

/** The frame that begins with some bytes, at least `FRAME_HEADER_BYTES`. @throws UnsupportedMp4 where none begins */
export function readSample(codec: EsCodec, header: Buffer): AudioSample {
  const sample = SAMPLES[codec]?.(header);
  if (!sample) throw new UnsupportedMp4('No frame of audio');
  return sample;
}

/** What packed audio consists of (RFC 8216 §3.4), by its first bytes. */
export const packedCodec = (header: Buffer): EsCodec | undefined =>
  readAdts(header) ? 'aac' : readMpegAudio(header) ? 'mpeg' : readAc3(header) ? 'ac3' : undefined;

interface Sound {
  readonly rate: number;
  readonly channels: number;
}

/** An `AudioSampleEntry` (ISO/IEC 14496-12 §12.2.3): 16 bits, and the rate in 16.16 where it fits. */
export const audioEntry = (type: string, { rate, channels }: Sound, configuration: Buffer): Buffer =>
  box(
    type,
    Buffer.concat([u32(0, 1, 0, 0), u16(channels), u16(16), u32(0)]),
    u32((rate > 0xffff ? 0 : rate) * 0x1_0000),
    configuration,
  );

/** With an elementary stream descriptor (ISO/IEC 14496-1 §7.2.6.5). */
function mp4aEntry(sound: Sound, objectType: number, specific: Buffer | undefined): Buffer {
  const decoder = descriptor(
    0x04,
    // An audio stream; no rates.
    Buffer.concat([u8(objectType, 0x15, 0, 0, 0), u32(0, 0), specific ? descriptor(0x05, specific) : u8()]),
  );
  const stream = descriptor(0x03, Buffer.concat([u8(0, 0, 0), decoder, descriptor(0x06, u8(2))]));
  return audioEntry('mp4a', sound, fullBox('esds', 0, 0, stream));
}

const descriptor = (tag: number, content: Buffer): Buffer =>
  Buffer.concat([u8(tag, 0x80, 0x80, 0x80, content.length), content]);
