import { cleanText, MAX_COVER_BYTES, MAX_LINK_CHARACTERS, type RecordingText } from './tags/id3.ts';

/** Bytes of the header of a page before its table of segments, and where its checksum is (RFC 3533 §6). */
export const HEADER_BYTES = 27;
const CHECKSUM_AT = 22;
/** Segments of a page, and bytes of one: a packet ends with a shorter one. */
const MAX_SEGMENTS = 255;
const SEGMENT_BYTES = 255;
const CONTINUED = 1;
const FIRST = 2;
const LAST = 4;
/** The granule position of a page on which no packet ends. */
const NO_GRANULE = -1;
/** There is one stream in a file. */
const SERIAL = 1;

interface OggPage {
  /** Number of the page in its stream, from 0. */
  readonly sequence: number;
  /** Samples up to the end of the last packet that ends on the page. */
  readonly granule: number;
  /** The lengths of the packets as `packetSegments` writes them. */
  readonly segments: readonly number[];
  readonly isContinued?: boolean;
  readonly isLast?: boolean;
}

/** The segments of a packet: as many of 255 bytes as fit, and a shorter one. */
export function packetSegments(bytes: number): number[] {
  const segments = new Array<number>(Math.floor(bytes / SEGMENT_BYTES) + 1).fill(SEGMENT_BYTES);
  segments[segments.length - 1] = bytes % SEGMENT_BYTES;
  return segments;
}

/** Whether more segments fit on a page. */
export const hasRoom = (segments: readonly number[], more: readonly number[]): boolean =>
  segments.length + more.length <= MAX_SEGMENTS;

/** The header of a page without its checksum, which `checkedPage` computes from the data. */
export function oggPageHeader({ sequence, granule, segments, isContinued, isLast }: OggPage): Buffer {
  const header = Buffer.alloc(HEADER_BYTES + segments.length);
  header.write('OggS', 'latin1');
  header[5] = (isContinued ? CONTINUED : 0) | (sequence === 0 ? FIRST : 0) | (isLast ? LAST : 0);
  header.writeBigInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(SERIAL, 14);
  header.writeUInt32LE(sequence, 18);
  header[HEADER_BYTES - 1] = segments.length;
  header.set(segments, HEADER_BYTES);
  return header;
}

/** Bytes of the header of a page, by its beginning. */
export const oggHeaderBytes = (bytes: Buffer, at: number): number => HEADER_BYTES + (bytes[at + HEADER_BYTES - 1] ?? 0);

/** A whole page: a header of `oggPageHeader`, the data, and the checksum of both. */
export function checkedPage(header: Buffer, data: Buffer): Buffer {
  const page = Buffer.concat([header, data]);
  page.writeUInt32LE(checksum(page), CHECKSUM_AT);
  return page;
}

/** The first pages of a stream: one for the first packet, and as many as the second one needs (RFC 7845 §3). */
export function oggHeaderPages(identification: Buffer, comments: Buffer): Buffer[] {
  const first = { sequence: 0, granule: 0, segments: packetSegments(identification.length) };
  const pages = [checkedPage(oggPageHeader(first), identification)];
  const segments = packetSegments(comments.length);
  for (let from = 0, at = 0; from < segments.length; from += MAX_SEGMENTS) {
    const part = segments.slice(from, from + MAX_SEGMENTS);
    const isEnd = from + MAX_SEGMENTS >= segments.length;
    const page = { sequence: pages.length, granule: isEnd ? 0 : NO_GRANULE, segments: part, isContinued: from > 0 };
    const bytes = part.reduce((sum, segment) => sum + segment, 0);
    pages.push(checkedPage(oggPageHeader(page), comments.subarray(at, at + bytes)));
    at += bytes;
  }
  return pages;
}

/** The remainders of all bytes by the polynomial of Ogg, which is not reflected as that of `zlib.crc32` is. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder << 1) ^ (remainder < 0 ? 0x04c1_1db7 : 0);
  return remainder;
});

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum << 8) ^ (REMAINDERS[(sum >>> 24) ^ byte] ?? 0);
  return sum >>> 0;
}

/** A stream of an Ogg file. */
interface OggStream {
  readonly kind: 'video' | 'audio';
  readonly codec: string;
  /** Pixels, of Theora alone. */
  readonly width?: number;
  readonly height?: number;
}

/** Identification headers by their first bytes (RFC 3533 §4, and the mapping of each codec). */
const SIGNATURES: readonly (readonly [bytes: string, kind: OggStream['kind'], codec: string])[] = [
  ['\x80theora', 'video', 'theora'],
  ['BBCD\0', 'video', 'dirac'],
  ['OVP80\x01', 'video', 'vp8'],
  ['\x01vorbis', 'audio', 'vorbis'],
  ['OpusHead', 'audio', 'opus'],
  ['\x7fFLAC', 'audio', 'flac'],
  ['Speex   ', 'audio', 'speex'],
];
/** Bytes of Theora's identification header up to the height of the picture (Theora specification §6.2). */
const THEORA_HEADER_BYTES = 20;
/** Streams of one file, metadata included; real files have five. */
const MAX_STREAMS = 64;

/**
 * The streams that an Ogg file or its first chain begins with, as far as `head` holds their first pages, which precede all
 * others. Streams without media, such as a skeleton, and unknown ones are left out.
 */
export function readOggStreams(head: Buffer): OggStream[] {
  const streams: OggStream[] = [];
  let at = 0;
  for (let count = 0; count < MAX_STREAMS && isFirstPage(head, at); count++) {
    const from = at + oggHeaderBytes(head, at);
    const segments = head.subarray(at + HEADER_BYTES, from);
    at = from + segments.reduce((sum, segment) => sum + segment, 0);
    const stream = identify(head.subarray(from, at));
    if (stream) streams.push(stream);
  }
  return streams;
}

const isFirstPage = (head: Buffer, at: number): boolean =>
  head.length >= at + HEADER_BYTES && head.toString('latin1', at, at + 4) === 'OggS' && ((head[at + 5] ?? 0) & 2) !== 0;

function identify(packet: Buffer): OggStream | undefined {
  const [, kind, codec] = SIGNATURES.find(([bytes]) => packet.toString('latin1', 0, bytes.length) === bytes) ?? [];
  if (!kind || !codec) return undefined;
  if (codec !== 'theora' || packet.length < THEORA_HEADER_BYTES) return { kind, codec };
  return { kind, codec, width: packet.readUIntBE(14, 3), height: packet.readUIntBE(17, 3) };
}

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
  if (!isFull) return tags;
  const chapters = Buffer.concat(comments.filter((comment) => comment.startsWith(CHAPTER)).map(sizedText));
  return Buffer.concat([tags], FULL_TAGS_BYTES + chapters.length);
}

const vorbisCommentList = (comments: readonly string[]): Buffer =>
  Buffer.concat([sized(Buffer.from(VENDOR)), uint32(comments.length), ...comments.map(sizedText)]);

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
