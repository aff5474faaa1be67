import { box, UnsupportedMp4 } from '../isobmff/index.ts';
import { BitReader, unescapeUnit } from './nal-units.ts';
import { readSize, u8, u16, type VideoCodec, videoEntry } from './video-codec.ts';

/** Types of NAL units (ITU-T H.264 table 7-1). */
const [SLICE, LAST_SLICE, IDR, SEI, SPS, PPS, DELIMITER] = [1, 5, 5, 6, 7, 8, 9] as const;
/** Profiles whose SPS has fields of the chroma format (§7.3.2.1.1), and whose `avcC` has them too. */
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
const RECOVERY_POINT = 6;
/** Values of `slice_type` that have intra macroblocks only. */
const INTRA = new Set([2, 7]);

const typeOf = (unit: Buffer): number => (unit[0] ?? 0) & 0x1f;

export const h264: VideoCodec = {
  setKinds: 2,
  keepsSets: true,
  setKind: (unit) => (typeOf(unit) === SPS ? 0 : typeOf(unit) === PPS ? 1 : undefined),
  isSlice: (unit) => typeOf(unit) >= SLICE && typeOf(unit) <= LAST_SLICE,
  isDelimiter: (unit) => typeOf(unit) === DELIMITER,
  // `first_mb_in_slice` is 0. Data partitions B and C do not have it.
  startsPicture: (slice) => [SLICE, 2, IDR].includes(typeOf(slice)) && ((slice[1] ?? 0) & 0x80) !== 0,

  startsClosed: (units) => units.some((unit) => typeOf(unit) === IDR),

  isSync(units) {
    if (h264.startsClosed(units)) return true;
    const slice = units.find((unit) => typeOf(unit) === SLICE);
    return (
      slice !== undefined && isIntra(slice) && units.some((unit) => typeOf(unit) === SEI && hasRecoveryPoint(unit))
    );
  },

  describe([all = [], pps = []]) {
    const [sps, other] = all;
    if (!sps || sps.length < 4 || other || pps.length > 255) throw new UnsupportedMp4('Not one SPS');
    const { width, height, chroma, lumaDepth, chromaDepth } = parseSps(sps);
    const [, profile = 0, compatibility = 0, level = 0] = sps;
    const configuration = box(
      'avcC',
      // Lengths of four bytes, one SPS (ISO/IEC 14496-15 §5.3.3.1.2).
      u8(1, profile, compatibility, level, 0xff, 0xe1),
      ...[u16(sps.length), sps, u8(pps.length)],
      ...pps.flatMap((set) => [u16(set.length), set]),
      HIGH_PROFILES.has(profile) ? u8(0xfc | chroma, 0xf8 | lumaDepth, 0xf8 | chromaDepth, 0) : u8(),
    );
    return { width, height, sampleEntry: videoEntry('avc1', { width, height }, configuration) };
  },
};

function isIntra(slice: Buffer): boolean {
  const reader = new BitReader(unescapeUnit(slice.subarray(1, 24)));
  reader.unsigned();
  return INTRA.has(reader.unsigned());
}

/** Whether a message of supplemental information (§7.3.2.3.1) is a recovery point. */
function hasRecoveryPoint(unit: Buffer): boolean {
  const bytes = unescapeUnit(unit);
  for (let at = 1; at + 2 < bytes.length; ) {
    const read = () => {
      let value = 0;
      while (bytes[at] === 0xff) {
        value += 0xff;
        at += 1;
      }
      value += bytes[at] ?? 0;
      at += 1;
      return value;
    };
    if (read() === RECOVERY_POINT) return true;
    at += read();
  }
  return false;
}

/** Size and format of the picture (§7.3.2.1.1). */
function parseSps(sps: Buffer) {
  const bytes = unescapeUnit(sps);
  const reader = new BitReader(bytes.subarray(4));
  reader.unsigned();
  const format = HIGH_PROFILES.has(bytes[1] ?? 0) ? readFormat(reader) : { chroma: 1, lumaDepth: 0, chromaDepth: 0 };
  reader.unsigned();
  const order = reader.unsigned();
  if (order === 0) reader.unsigned();
  if (order === 1) {
    reader.bit();
    reader.signed();
    reader.signed();
    for (let count = reader.unsigned(); count > 0; count -= 1) reader.signed();
  }
  reader.unsigned();
  reader.bit();
  const columns = reader.unsigned() + 1;
  const rows = reader.unsigned() + 1;
  const fields = 2 - reader.bit();
  // Pairs of fields may be two pictures, in packets of their own.
  if (fields === 2) throw new UnsupportedMp4('Interlaced video');
  reader.bit();
  return { ...format, ...readSize(reader, format.chroma, columns * 16, rows * 16) };
}

function readFormat(reader: BitReader) {
  const chroma = reader.unsigned();
  if (chroma === 3) reader.bit();
  const lumaDepth = reader.unsigned();
  const chromaDepth = reader.unsigned();
  if (chroma > 3 || lumaDepth > 7 || chromaDepth > 7) throw new UnsupportedMp4('Invalid SPS');
  reader.bit();
  const hasMatrix = reader.bit() === 1;
  for (let index = 0; hasMatrix && index < (chroma === 3 ? 12 : 8); index += 1)
    if (reader.bit()) discardScalingList(reader, index < 6 ? 16 : 64);
  return { chroma, lumaDepth, chromaDepth };
}

/** §7.3.2.1.1.1. */
function discardScalingList(reader: BitReader, size: number): void {
  let [last, next] = [8, 8];
  for (let index = 0; index < size; index += 1) {
    if (next !== 0) next = (last + reader.signed() + 256) % 256;
    last = next === 0 ? last : next;
  }
}
