import { UnsupportedRendition, UpstreamError } from '../errors.ts';
import { createStepFilter, type DiscontinuityFilter } from './discontinuity-filter.ts';

/** Adobe Flash Video File Format Specification 10.1, annex E: sizes of the headers of a file and of a tag, in bytes. */
const FILE_HEADER_BYTES = 9;
const TAG_HEADER_BYTES = 11;
/** The size of a tag follows it. */
const SIZE_BYTES = 4;
/** The file header may announce a track that never comes: it is waited for no longer. */
const MAX_OPENING_BYTES = 256 * 1024;
/** A tag is one frame. */
const MAX_TAG_BYTES = 8 * 1024 * 1024;
const AUDIO = 8;
const VIDEO = 9;
/** Their flags in the file header. */
const TRACK_FLAGS = [
  [AUDIO, 4],
  [VIDEO, 1],
] as const;
const AVC = 7;
const AAC = 10;
const NONE: Buffer = Buffer.alloc(0);

interface TagTimes {
  /** Milliseconds on the clock of the output. */
  last: number;
  /** From the tag before it. */
  step: number;
}

/**
 * Joins FLV files that are the parts of one presentation into one file, for FFmpeg: without the headers and metadata of each
 * part, and with timestamps that continue. Each part has a clock and sequence headers of its own.
 * @returns a filter that throws UnsupportedRendition for codecs that MP4 does not hold as they are, and UpstreamError
 */
export function createFlvParts(): DiscontinuityFilter {
  const times = new Map<number, TagTimes>();
  /** Sequence headers by the type of their tags. */
  const configurations = new Map<number, Buffer>();
  let isFirst = true;
  /** Tracks of which nothing has been seen yet, and the output until then: the first byte says that all codecs are handled. */
  const awaited = new Set<number>();
  let opening: Buffer | undefined = NONE;

  const readTag = (tag: Buffer, shift: number): Buffer => {
    const type = tag.readUInt8(0) & 0x1f;
    const data = tag.subarray(TAG_HEADER_BYTES, -SIZE_BYTES);
    // Metadata describe one part.
    if ((type !== AUDIO && type !== VIDEO) || data.length < 2) return NONE;
    requireCodec(type, data);
    awaited.delete(type);
    if (isSequenceHeader(data)) {
      const known = configurations.get(type);
      if (known && !known.equals(data)) throw new UpstreamError('Encoding changed between parts of FLV');
      if (known) return NONE;
      configurations.set(type, Buffer.from(data));
    }
    const time = timeOf(tag) + shift;
    const before = times.get(type);
    times.set(type, { last: time, step: before && time > before.last ? time - before.last : (before?.step ?? 0) });
    const moved = Buffer.from(tag);
    moved.writeUIntBE(time & 0xffffff, 4, 3);
    moved.writeUInt8((time >>> 24) & 0xff, 7);
    return moved;
  };

  const pass = (bytes: Buffer): Buffer => {
    if (!opening) return bytes;
    const whole = Buffer.concat([opening, bytes]);
    const isOpen = awaited.size === 0 || whole.length > MAX_OPENING_BYTES;
    opening = isOpen && !isFirst ? undefined : whole;
    return opening ? NONE : whole;
  };

  return {
    selection: 'all',
    init: () => ({ update: (chunk) => chunk, final: () => NONE }),
    segment() {
      let isInHeader = true;
      let shift: number | undefined;

      const tags = createStepFilter((rest) => {
        if (isInHeader) {
          if (rest.length < FILE_HEADER_BYTES) return FILE_HEADER_BYTES;
          if (rest.toString('latin1', 0, 3) !== 'FLV') throw new UpstreamError('A part is not FLV');
          const count = rest.readUInt32BE(5) + SIZE_BYTES;
          if (count > MAX_TAG_BYTES) throw new UpstreamError('Header of FLV exceeds the size limit');
          if (rest.length < count) return count;
          isInHeader = false;
          const header = isFirst ? Buffer.from(rest.subarray(0, count)) : NONE;
          for (const [type, flag] of isFirst ? TRACK_FLAGS : []) if (rest.readUInt8(4) & flag) awaited.add(type);
          isFirst = false;
          return { count, out: header };
        }
        if (rest.length < TAG_HEADER_BYTES) return TAG_HEADER_BYTES;
        const count = TAG_HEADER_BYTES + rest.readUIntBE(1, 3) + SIZE_BYTES;
        if (count > MAX_TAG_BYTES) throw new UpstreamError('Tag of FLV exceeds the size limit');
        if (rest.length < count) return count;
        const tag = rest.subarray(0, count);
        if (shift === undefined && isMedia(tag)) {
          const ends = [...times.values()].map(({ last, step: more }) => last + more);
          shift = Math.max(0, ...ends) - timeOf(tag);
        }
        return { count, out: readTag(tag, shift ?? 0) };
      });
      return {
        update: (chunk) => pass(tags.update(chunk)),
        final() {
          if (tags.final().length > 0) throw new UpstreamError('A part of FLV ends within a tag');
          awaited.clear();
          return pass(NONE);
        },
      };
    },
  };
}

const isMedia = (tag: Buffer): boolean => [AUDIO, VIDEO].includes(tag.readUInt8(0) & 0x1f);

/** Milliseconds: 24 bits, and the upper 8 bits behind them. */
const timeOf = (tag: Buffer): number => tag.readUIntBE(4, 3) + tag.readUInt8(7) * 0x1000000;

function requireCodec(type: number, data: Buffer): void {
  const first = data.readUInt8(0);
  const isKnown = type === VIDEO ? (first & 0x0f) === AVC : first >> 4 === AAC;
  if (isKnown) return;
  throw new UnsupportedRendition('The video is FLV in several parts, with codecs other than H.264 and AAC.');
}

/** The second byte of AVC and AAC: 0 for the configuration of the decoder. */
const isSequenceHeader = (data: Buffer): boolean => data.readUInt8(1) === 0;
