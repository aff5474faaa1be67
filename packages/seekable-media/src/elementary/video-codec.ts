import { box, UnsupportedMp4, u32 } from '../isobmff/index.ts';
import type { BitReader } from './nal-units.ts';

/** A decoder configuration, and what it says of the picture. */
interface VideoDescription {
  readonly width: number;
  readonly height: number;
  readonly sampleEntry: Buffer;
}

/** What is read of the NAL units of a codec. */
export interface VideoCodec {
  /** Kinds of parameter sets, each of which a decoder needs. */
  readonly setKinds: number;
  /** Whether samples may have parameter sets: `avc1` players know them there, `hvc1` forbids them. */
  readonly keepsSets: boolean;
  /** The kind of a parameter set, from 0; undefined for any other unit. */
  setKind(unit: Buffer): number | undefined;
  isSlice(unit: Buffer): boolean;
  /** Whether it is an access unit delimiter, which is in front of all others. */
  isDelimiter(unit: Buffer): boolean;
  /** Whether a slice is the first of a picture. */
  startsPicture(slice: Buffer): boolean;
  /** Whether a picture can be decoded without others. */
  isSync(units: readonly Buffer[]): boolean;
  /** Whether it says that no picture which is decoded after it is shown before it. */
  startsClosed(units: readonly Buffer[]): boolean;
  /**
   * @param sets by their kind
   * @throws UnsupportedMp4
   */
  describe(sets: readonly (readonly Buffer[])[]): VideoDescription;
}

const PIXELS_PER_INCH = 0x48_0000;

export const u8 = (...values: readonly number[]): Buffer => Buffer.from(values);

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** A `VisualSampleEntry` (ISO/IEC 14496-12 §12.1.3). */
export const videoEntry = (
  type: string,
  { width, height }: Pick<VideoDescription, 'width' | 'height'>,
  configuration: Buffer,
): Buffer =>
  box(
    type,
    // Reserved bytes, and the index of the data reference.
    Buffer.concat([u32(0, 1), Buffer.alloc(16), u16(width), u16(height), u32(PIXELS_PER_INCH, PIXELS_PER_INCH, 0)]),
    // One frame a sample, no compressor name, 24 bits, no colour table.
    Buffer.concat([u16(1), Buffer.alloc(32), u16(24), u16(0xffff)]),
    configuration,
  );

const MAX_SIZE = 16_384;

/**
 * The size of a picture: of the coded one, an SPS says next how much is left out on each side, in samples of chroma.
 * @param chroma `chroma_format_idc`
 * @throws UnsupportedMp4 for none, or one that is too large
 */
export function readSize(reader: BitReader, chroma: number, codedWidth: number, codedHeight: number) {
  const isCropped = reader.bit() === 1;
  const sides = (unit: number) => (isCropped ? (reader.unsigned() + reader.unsigned()) * unit : 0);
  const width = codedWidth - sides(chroma === 1 || chroma === 2 ? 2 : 1);
  const height = codedHeight - sides(chroma === 1 ? 2 : 1);
  if (!(width > 0 && height > 0 && width <= MAX_SIZE && height <= MAX_SIZE))
    throw new UnsupportedMp4('Video without a size');
  return { width, height };
}
