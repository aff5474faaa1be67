import { cleanText, MAX_COVER_BYTES, MAX_LINK_CHARACTERS, type RecordingText } from '../id3/index.ts';

/** Samples a second of every granule position, whatever the rate of the input was (RFC 7845 §4). */
export const OPUS_SAMPLE_RATE = 48_000;
/** Bytes of full tags without chapters, padding included: offsets behind them depend on neither texts nor cover. */
const FULL_TAGS_BYTES = 96 * 1024;
const VENDOR = 'Reelay';
/** The names of comments with chapters begin with it (the Chapter Extension of Vorbis comments). */
const CHAPTER = 'CHAPTER';
/** Bytes of a `dOps` up to its channel mapping family, which are those of an `OpusHead` behind its name. */
const FIXED_BYTES = 11;
/** `APIC` type of a front cover, as in the picture block of FLAC. */
const FRONT_COVER = 3;

/**
 * `OpusHead` (RFC 7845 §5.1), by the content of a `dOps`, which has the same fields in another byte order.
 * @param preSkip samples that players drop at the beginning. @default as `dOps` has it
 * @returns undefined for a `dOps` that is too short, or of a version that is not known
 */
export function opusHead(dOps: Buffer, preSkip?: number): Buffer | undefined {
  if (dOps.length < FIXED_BYTES || dOps[0] !== 0) return undefined;
  const head = Buffer.concat([Buffer.from('OpusHead\x01', 'latin1'), dOps.subarray(1)]);
  head.writeUInt16LE(preSkip ?? dOps.readUInt16BE(2), 10);
  head.writeUInt32LE(dOps.readUInt32BE(4), 12);
  head.writeInt16LE(dOps.readInt16BE(8), 16);
  return head;
}

/** Samples that players drop at the beginning of an Opus stream, by its `OpusHead`. */
export const preSkipOf = (head: Buffer): number => head.readUInt16LE(10);

/**
 * The comments of Vorbis, Opus and FLAC for a recording, as `NAME=value`.
 * @param cover JPEG of at most `MAX_COVER_BYTES`; empty or absent: none
 */
export function vorbisComments(
  { title, artist, album, trackNumber, date, link = '', chapters = [] }: RecordingText,
  cover: Buffer = Buffer.alloc(0),
): string[] {
  const texts = {
    TITLE: title,
    ARTIST: artist,
    ALBUM: album,
    DATE: date,
    TRACKNUMBER: trackNumber?.toString(),
    COMMENT: link.length > MAX_LINK_CHARACTERS ? '' : link,
  };
  const comments = Object.entries(texts).flatMap(([name, text]) => {
    const clean = name === 'COMMENT' ? (text ?? '') : cleanText(text ?? '');
    return clean === '' ? [] : `${name}=${clean}`;
  });
  if (cover.length > 0 && cover.length <= MAX_COVER_BYTES)
    comments.push(`METADATA_BLOCK_PICTURE=${pictureBlock(cover).toString('base64')}`);
  for (const [index, { title: name, startSeconds }] of chapters.entries()) {
    const key = `${CHAPTER}${String(index).padStart(3, '0')}`;
    comments.push(`${key}=${clockTime(startSeconds)}`, `${key}NAME=${cleanText(name)}`);
  }
  return comments;
}

/** `HH:MM:SS.mmm`. */
function clockTime(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const hours = Math.floor(milliseconds / 3_600_000);
  return `${String(hours).padStart(2, '0')}:${new Date(milliseconds % 3_600_000).toISOString().slice(14, -1)}`;
}

/**
 * `OpusTags` (RFC 7845 §5.2).
 * @param isFull whether to pad them to the size of all full tags, and that of the chapters. @default false
 */
export function opusTags(comments: readonly string[], isFull = false): Buffer {
  const tags = Buffer.concat([Buffer.from('OpusTags', 'latin1'), vorbisCommentList(comments)]);
  return isFull ? Buffer.concat([tags], paddedBytes(comments)) : tags;
}

/** Comments as Opus and FLAC have them. */
export const vorbisCommentList = (comments: readonly string[]): Buffer =>
  Buffer.concat([sized(Buffer.from(VENDOR)), uint32(comments.length), ...comments.map(sizedText)]);

/** Bytes of full tags with their padding. */
export const paddedBytes = (comments: readonly string[]): number =>
  FULL_TAGS_BYTES + Buffer.concat(comments.filter((comment) => comment.startsWith(CHAPTER)).map(sizedText)).length;

/** A picture as in FLAC (RFC 9639 §8.8), whose dimensions are optional. */
function pictureBlock(jpeg: Buffer): Buffer {
  const type = Buffer.from('image/jpeg', 'latin1');
  const fields = Buffer.alloc(8 + type.length + 4 * 6);
  fields.writeUInt32BE(FRONT_COVER, 0);
  fields.writeUInt32BE(type.length, 4);
  type.copy(fields, 8);
  fields.writeUInt32BE(jpeg.length, fields.length - 4);
  return Buffer.concat([fields, jpeg]);
}

const sized = (bytes: Buffer): Buffer => Buffer.concat([uint32(bytes.length), bytes]);
const sizedText = (text: string): Buffer => sized(Buffer.from(text));

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
