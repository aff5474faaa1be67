import { box, UnsupportedMp4 } from '../isobmff/index.ts';
import { BitReader, unescapeUnit } from './nal-units.ts';
import { readSize, u8, u16, type VideoCodec, videoEntry } from './video-codec.ts';

/** Types of NAL units (ITU-T H.265 table 7-1): those below are slices. */
const VPS = 32;
const PPS = 34;
const DELIMITER = 35;
const [FIRST_IRAP, LAST_IRAP] = [16, 23] as const;
/** BLA and IDR without leading pictures. */
const WITHOUT_LEADING = new Set([18, 20]);
const MAX_SETS = 16;
/** What the profile takes in an SPS and in `hvcC`, without the level of each sublayer. */
const PROFILE_BYTES = 12;

const typeOf = (unit: Buffer): number => ((unit[0] ?? 0) >> 1) & 0x3f;

export const hevc: VideoCodec = {
  setKinds: 3,
  keepsSets: false,
  setKind: (unit) => (typeOf(unit) >= VPS && typeOf(unit) <= PPS ? typeOf(unit) - VPS : undefined),
  isSlice: (unit) => typeOf(unit) < VPS,
  isDelimiter: (unit) => typeOf(unit) === DELIMITER,
  // `first_slice_segment_in_pic_flag`.
  startsPicture: (slice) => ((slice[2] ?? 0) & 0x80) !== 0,
  isSync: (units) => units.some((unit) => typeOf(unit) >= FIRST_IRAP && typeOf(unit) <= LAST_IRAP),
  startsClosed: (units) => units.some((unit) => WITHOUT_LEADING.has(typeOf(unit))),

  describe(sets) {
    const sps = sets[1]?.[0];
    if (!sps || sets.some(({ length }) => length === 0 || length > MAX_SETS)) throw new UnsupportedMp4('Not one SPS');
    const { width, height, profile, layers, chroma, lumaDepth, chromaDepth } = parseSps(sps);
    const arrays = sets.map((list, kind) =>
      // All sets of the kind are here.
      Buffer.concat([
        u8(0x80 | (VPS + kind)),
        u16(list.length),
        ...list.flatMap((set) => [u16(set.length), Buffer.from(set)]),
      ]),
    );
    const configuration = box(
      'hvcC',
      u8(1),
      profile,
      // No known segmentation or parallelism (ISO/IEC 14496-15 §8.3.3.1.2).
      u8(0xf0, 0, 0xfc, 0xfc | chroma, 0xf8 | lumaDepth, 0xf8 | chromaDepth, 0, 0),
      // Temporal sublayers, nested as the SPS says, and lengths of four bytes.
      u8((layers << 3) | (((sps[2] ?? 0) & 1) << 2) | 3, arrays.length),
      ...arrays,
    );
    return { width, height, sampleEntry: videoEntry('hvc1', { width, height }, configuration) };
  },
};

/** Size and format of the picture (§7.3.2.2.1). */
function parseSps(sps: Buffer) {
  const bytes = unescapeUnit(sps);
  const reader = new BitReader(bytes);
  reader.discard(16 + 4);
  const sublayers = reader.bits(3);
  reader.discard(1 + PROFILE_BYTES * 8);
  const profile = bytes.subarray(3, 3 + PROFILE_BYTES);
  if (profile.length < PROFILE_BYTES) throw new UnsupportedMp4('Truncated SPS');
  const present = Array.from({ length: sublayers }, () => [reader.bit(), reader.bit()] as const);
  if (sublayers > 0) reader.discard((8 - sublayers) * 2);
  for (const [hasProfile, hasLevel] of present) reader.discard(hasProfile * 88 + hasLevel * 8);
  reader.unsigned();
  const chroma = reader.unsigned();
  if (chroma === 3) reader.bit();
  const codedWidth = reader.unsigned();
  const codedHeight = reader.unsigned();
  const size = readSize(reader, chroma, codedWidth, codedHeight);
  const lumaDepth = reader.unsigned();
  const chromaDepth = reader.unsigned();
  if (chroma > 3 || lumaDepth > 7 || chromaDepth > 7) throw new UnsupportedMp4('Invalid SPS');
  return { ...size, profile, layers: sublayers + 1, chroma, lumaDepth, chromaDepth };
}
