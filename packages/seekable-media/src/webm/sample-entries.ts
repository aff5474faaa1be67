import { audioEntry, videoEntry } from '../elementary/index.ts';
import { box, fullBox, type HandlerType, UnsupportedMp4 } from '../isobmff/index.ts';
import { type Children, ID } from './ebml.ts';

/** What a track is in MP4. */
export interface CodecTrack {
  readonly kind: HandlerType;
  /** A whole sample entry. */
  readonly sampleEntry: Buffer;
  /** As it is shown, in pixels. Absent: audio. */
  readonly size?: { readonly width: number; readonly height: number };
}

/** Pixels that either field of a sample entry can hold. */
const MAX_PIXELS = 0xffff;
/** ITU-T H.273: unspecified. */
const UNSPECIFIED = 2;
const VP9_SYNC_CODE = 0x498342;
/** Levels of VP9: most pixels of a picture. Those that differ in rate only are left out. */
const VP9_LEVELS = [
  [36_864, 10],
  [73_728, 11],
  [122_880, 20],
  [245_760, 21],
  [552_960, 30],
  [983_040, 31],
  [2_228_224, 41],
  [8_912_896, 51],
] as const;
const VP9_HIGHEST_LEVEL = 61;
const OPUS_HEAD_BYTES = 19;
const OPUS_RATE = 48_000;

/**
 * The track of MP4 for one of Matroska: VP9 and AV1, whose frames are in the order in which they are shown, and Opus.
 * @param frame its first one
 * @throws UnsupportedMp4 for another codec, and a configuration that is incomplete
 */
export function describeTrack(entry: Children, frame: Buffer): CodecTrack {
  const configuration = entry.bytes(ID.codecPrivate) ?? Buffer.alloc(0);
  switch (entry.text(ID.codecId)) {
    case 'V_VP9':
      return visual('vp09', entry, vp9Configuration(entry, frame));
    case 'V_AV1':
      if (configuration.length < 4) throw new UnsupportedMp4('AV1 without a configuration');
      return visual('av01', entry, box('av1C', configuration));
    case 'A_OPUS':
      return { kind: 'soun', sampleEntry: opusEntry(configuration) };
    default:
      throw new UnsupportedMp4('A codec that MP4 has no place for');
  }
}

function visual(type: string, entry: Children, configuration: Buffer): CodecTrack {
  const { display, ...pixels } = pictureOf(entry);
  return { kind: 'vide', sampleEntry: videoEntry(type, pixels, configuration), size: display };
}

function pictureOf(entry: Children) {
  const video = entry.of(ID.video);
  const width = video.unsigned(ID.pixelWidth) ?? 0;
  const height = video.unsigned(ID.pixelHeight) ?? 0;
  if (width === 0 || height === 0 || Math.max(width, height) > MAX_PIXELS)
    throw new UnsupportedMp4('No size in pixels');
  // Other units than pixels say the shape alone.
  const isInPixels = (video.unsigned(ID.displayUnit) ?? 0) === 0;
  const shown = (value: number | undefined, pixels: number) =>
    isInPixels && value !== undefined && value > 0 && value <= MAX_PIXELS ? value : pixels;
  const display = {
    width: shown(video.unsigned(ID.displayWidth), width),
    height: shown(video.unsigned(ID.displayHeight), height),
  };
  return { width, height, display };
}

/** `vpcC` (VP Codec ISO Media File Format Binding), by the header of a keyframe (VP9 Bitstream §6.2). */
function vp9Configuration(entry: Children, frame: Buffer): Buffer {
  const { width, height } = pictureOf(entry);
  const colour = entry.of(ID.video).of(ID.colour);
  const colourOf = (id: number) => (colour.unsigned(id) ?? UNSPECIFIED) & 0xff;
  const level = VP9_LEVELS.find(([pixels]) => width * height <= pixels)?.[1] ?? VP9_HIGHEST_LEVEL;
  const { profile, bitDepth, subsampling, isFullRange } = readKeyframe(frame);
  const picture = (bitDepth << 4) | (subsampling << 1) | Number(isFullRange);
  const colours = [ID.primaries, ID.transferCharacteristics, ID.matrixCoefficients].map(colourOf);
  return fullBox('vpcC', 1, 0, Buffer.from([profile, level, picture, ...colours, 0, 0]));
}

/** `chroma_subsampling` of `vpcC`. */
const SUBSAMPLING = { yuv420: 1, yuv422: 2, yuv444: 3 } as const;
const SRGB = 7;

function readKeyframe(frame: Buffer) {
  if (frame.length < 8) throw new UnsupportedMp4('A frame that is too short');
  const bits = frame.readBigUInt64BE();
  let at = 0;
  const read = (count: number): number => {
    at += count;
    return Number((bits >> BigInt(64 - at)) & ((1n << BigInt(count)) - 1n));
  };
  const marker = read(2);
  const low = read(1);
  const profile = low + read(1) * 2;
  const isReserved = profile === 3 && read(1) === 1;
  const isShownAgain = read(1) === 1;
  const isInter = read(1) === 1;
  read(2);
  const isKeyframe = marker === 2 && !isReserved && !isShownAgain && !isInter && read(24) === VP9_SYNC_CODE;
  if (!isKeyframe) throw new UnsupportedMp4('A first frame that is no keyframe');
  const bitDepth = profile < 2 ? 8 : read(1) === 1 ? 12 : 10;
  const isRgb = read(3) === SRGB;
  const isFullRange = isRgb || read(1) === 1;
  const hasShape = profile % 2 === 1;
  const isHalfWidth = !isRgb && (!hasShape || read(1) === 1);
  const isHalfHeight = !isRgb && (!hasShape || read(1) === 1);
  const subsampling = isHalfHeight ? SUBSAMPLING.yuv420 : isHalfWidth ? SUBSAMPLING.yuv422 : SUBSAMPLING.yuv444;
  return { profile, bitDepth, subsampling, isFullRange };
}

/** With `dOps`, which has the fields of `OpusHead` in another byte order (RFC 7845 §5.1). */
function opusEntry(head: Buffer): Buffer {
  if (head.length < OPUS_HEAD_BYTES || head.toString('latin1', 0, 8) !== 'OpusHead')
    throw new UnsupportedMp4('Opus without a configuration');
  const config = Buffer.from(head.subarray(8));
  config.writeUInt8(0, 0);
  config.writeUInt16BE(head.readUInt16LE(10), 2);
  config.writeUInt32BE(head.readUInt32LE(12), 4);
  config.writeInt16BE(head.readInt16LE(16), 8);
  return audioEntry('Opus', { rate: OPUS_RATE, channels: head.readUInt8(9) }, box('dOps', config));
}
