import { box, DATA_INFORMATION, fullBox, type HandlerType, type IndexedBox, UnsupportedMp4, u32 } from './boxes.ts';

/** ISO 639-2 `und`, packed (ISO/IEC 14496-12 §8.4.2.3). */
const UNDETERMINED = u32(0x55c4_0000);
/** Codes of languages below this are those of Macintosh, and so is `UNSPECIFIED`. */
const PACKED_LANGUAGES = 0x400;
const UNSPECIFIED = 0x7fff;
/** Fields of a sample entry before its boxes: of video, and of audio by their version. */
const VISUAL_BYTES = 78;
const MIN_AUDIO_BYTES = 28;
const AUDIO_BYTES = [MIN_AUDIO_BYTES, 44, 64];
/** What configures a decoder of audio. QuickTime has it in `wave`. */
const CONFIGURATIONS = new Set(['esds', 'alac', 'dac3', 'dec3', 'dOps', 'dfLa']);

/** Boxes of a track that QuickTime writes in another way than MP4. */
export interface TrackBoxes {
  /** The 4 bytes after the duration in `mdhd`. */
  readonly language: Buffer;
  /** `hdlr` and `elng` of `mdia`. */
  readonly media: readonly Buffer[];
  /** `vmhd` or `smhd`, and `dinf`, of `minf`. */
  readonly mediaInformation: readonly Buffer[];
  /** `stsd`. */
  readonly sampleDescriptions: Buffer;
}

/**
 * The boxes of a track of QuickTime as MP4 has them.
 * @param stsd with entries that MP4 knows
 * @throws UnsupportedMp4
 */
export function writeAsMp4(boxes: TrackBoxes, stsd: IndexedBox, kind: HandlerType): TrackBoxes {
  const code = boxes.language.readUInt16BE();
  const entries = stsd.childrenAfter(8).map(kind === 'vide' ? visualEntry : audioEntry);
  return {
    language: code < PACKED_LANGUAGES || code === UNSPECIFIED ? UNDETERMINED : boxes.language,
    media: [fullBox('hdlr', 0, 0, u32(0), Buffer.from(kind), Buffer.alloc(13)), ...boxes.media.slice(1)],
    // That of QuickTime is an alias of the file itself.
    mediaInformation: [...boxes.mediaInformation.slice(0, -1), DATA_INFORMATION],
    sampleDescriptions: fullBox('stsd', 0, 0, u32(entries.length), ...entries),
  };
}

function visualEntry(entry: IndexedBox): Buffer {
  const boxes = childrenAfter(entry, VISUAL_BYTES).map((child) => (isNclc(child) ? nclx(child) : child.whole));
  return box(entry.type, fields(entry, VISUAL_BYTES), ...boxes);
}

/** Colours without their range, which is the limited one. */
const isNclc = ({ type, bytes, content, end }: IndexedBox): boolean =>
  type === 'colr' && end - content >= 10 && bytes.toString('latin1', content, content + 4) === 'nclc';
const nclx = ({ bytes, content }: IndexedBox): Buffer =>
  box('colr', Buffer.from('nclx'), bytes.subarray(content + 4, content + 10), Buffer.alloc(1));

function audioEntry(entry: IndexedBox): Buffer {
  const { bytes, content, type } = entry;
  const version = fields(entry, MIN_AUDIO_BYTES).readUInt16BE(8);
  const fieldBytes = AUDIO_BYTES[version];
  if (fieldBytes === undefined) throw new UnsupportedMp4(`Sound description of version ${version}`);
  const described = fields(entry, fieldBytes);
  const children = childrenAfter(entry, fieldBytes);
  const wave = children.find((child) => child.type === 'wave');
  const configuration = [...children, ...(wave ? childrenAfter(wave, 0) : [])].find((child) =>
    CONFIGURATIONS.has(child.type),
  );
  if (!configuration) throw new UnsupportedMp4(`No configuration of ${type}`);
  const isLarge = version === 2;
  const channels = isLarge ? described.readUInt32BE(40) : described.readUInt16BE(16);
  const rate = isLarge ? described.readDoubleBE(32) : described.readUInt16BE(24);
  // A rate that does not fit is that of the configuration.
  const shownRate = rate > 0 && rate < 0x1_0000 ? Math.floor(rate) : 0;
  const sound = u32(0, 0, ((channels & 0xffff) << 16) | 16, 0, shownRate * 0x1_0000);
  return box(type, bytes.subarray(content, content + 8), sound, configuration.whole);
}

function fields({ bytes, content, end }: IndexedBox, length: number): Buffer {
  if (content + length > end) throw new UnsupportedMp4('Truncated sample description');
  return bytes.subarray(content, content + length);
}

/** Without what does not fit, such as the zero that ends a list. */
const childrenAfter = (entry: IndexedBox, fieldBytes: number): readonly IndexedBox[] =>
  entry.childrenAfter(fieldBytes).filter(({ end }) => end <= entry.end);
