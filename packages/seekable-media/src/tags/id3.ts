import type { Chapter } from '../parts/chapters.ts';

/** The text of a tag; `null` leaves the frame out. */
export interface TagText {
  readonly title: string | null;
  readonly artist: string | null;
}

/** The texts of a full tag. Absent and `null` texts are left out. */
export interface RecordingText extends TagText {
  /** The album, or the list that the recording belongs to. */
  readonly album?: string;
  /** From 1. */
  readonly trackNumber?: number;
  /** ISO 8601: `2026-11-22`. */
  readonly date?: string;
  /** Where the recording was found. */
  readonly link?: string;
  /** In ascending order, at most 255. */
  readonly chapters?: readonly Chapter[];
}

/** Bytes of the header of an ID3v2 tag, and of a frame within one (ID3v2.3 §3.1, §3.3). */
export const ID3_HEADER_BYTES = 10;
/** UTF-16 code units kept of a title or an artist, so that a hostile text cannot make a tag of megabytes. */
const MAX_TEXT_UNITS = 250;
/** A longer link is left out: a part of it leads elsewhere. */
export const MAX_LINK_CHARACTERS = 1000;
/** Text encoding of a text frame: UTF-16 with a byte order mark (ID3v2.3 §3.3). */
const UTF16_WITH_BOM = 1;

/** Whether bytes begin with the identifier of an ID3v2 tag. */
export const isId3Tag = (head: Buffer): boolean => head.toString('latin1', 0, 3) === 'ID3';

/** The flag of a footer, which is as long as the header (ID3v2.4 §3.4). */
const FOOTER = 0x10;

/** Bytes of the ID3v2 tag that `head` begins with, header and footer included; 0 without a complete header of one. */
export function id3TagBytes(head: Buffer): number {
  if (head.length < ID3_HEADER_BYTES || !isId3Tag(head)) return 0;
  const size = head.subarray(6, ID3_HEADER_BYTES).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return size + (head.readUInt8(5) & FOOTER ? 2 : 1) * ID3_HEADER_BYTES;
}

/**
 * An ID3v2.3 tag, which every player reads (some do not know 2.4), with its texts in UTF-16. Empty without any text.
 * The same texts give the same bytes.
 */
export function id3Tag({ title, artist }: TagText): Buffer {
  const frames = Buffer.concat([textFrame('TIT2', title), textFrame('TPE1', artist)]);
  return frames.length === 0 ? frames : Buffer.concat([tagHeader(frames.length), frames]);
}

/** Bytes of every full tag without chapters. Texts take at most 5 KB of it, the cover the rest; what is left is padding. */
export const FULL_TAG_BYTES = 64 * 1024;
/** Bytes of a cover that fits into a tag whatever its texts. */
export const MAX_COVER_BYTES = 58_000;

/**
 * An ID3v2.3 tag with all that is known, always of `FULL_TAG_BYTES` and the bytes of the chapters: the offset of the audio
 * behind it does not depend on other texts or the cover.
 * @param cover JPEG of at most `MAX_COVER_BYTES`; empty or absent: none
 */
export function fullId3Tag(text: RecordingText, cover: Buffer = Buffer.alloc(0)): Buffer {
  const { title, artist, album = null, trackNumber, date, link = '', chapters = [] } = text;
  const [year = null, month, day] = date?.slice(0, 'YYYY-MM-DD'.length).split('-') ?? [];
  const marks = chapterFrames(chapters);
  const tag = Buffer.alloc(FULL_TAG_BYTES + marks.length);
  const content = Buffer.concat([
    tagHeader(tag.length - ID3_HEADER_BYTES),
    textFrame('TIT2', title),
    textFrame('TPE1', artist),
    textFrame('TALB', album),
    textFrame('TRCK', trackNumber ? String(trackNumber) : null),
    textFrame('TYER', year),
    textFrame('TDAT', month && day ? day + month : null),
    link.length > MAX_LINK_CHARACTERS ? Buffer.alloc(0) : commentFrame(link),
    cover.length > MAX_COVER_BYTES ? Buffer.alloc(0) : pictureFrame(cover),
    marks,
  ]);
  content.copy(tag);
  return tag;
}

/** @param contentBytes of the tag without this header (§3.1) */
function tagHeader(contentBytes: number): Buffer {
  const header = Buffer.alloc(ID3_HEADER_BYTES);
  header.write('ID3\x03');
  header.set(synchsafe(contentBytes), 6);
  return header;
}

/** A frame (§3.3); none without content. */
function frame(id: string, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(ID3_HEADER_BYTES);
  header.write(id);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

const BYTE_ORDER_MARK = Buffer.from([0xff, 0xfe]);

/** §4.2. */
function textFrame(id: string, text: string | null): Buffer {
  const clean = cleanText(text ?? '');
  if (clean === '') return Buffer.alloc(0);
  return frame(id, Buffer.from([UTF16_WITH_BOM]), BYTE_ORDER_MARK, Buffer.from(clean, 'utf16le'));
}

/** `COMM` (§4.11) without a description: players show it as the comment. */
function commentFrame(text: string): Buffer {
  if (text === '') return Buffer.alloc(0);
  const description = Buffer.concat([BYTE_ORDER_MARK, Buffer.alloc(2)]);
  const comment = Buffer.concat([BYTE_ORDER_MARK, Buffer.from(text, 'utf16le')]);
  return frame('COMM', Buffer.from([UTF16_WITH_BOM]), Buffer.from('eng'), description, comment);
}

/** `APIC` (§4.15): the front cover. */
function pictureFrame(jpeg: Buffer): Buffer {
  if (jpeg.length === 0) return Buffer.alloc(0);
  return frame('APIC', Buffer.from('\0image/jpeg\0\x03\0'), jpeg);
}

/** `CTOC` as the table of contents, ordered and on top, and a `CHAP` for each chapter (ID3v2 Chapter Frame Addendum §3). */
function chapterFrames(chapters: readonly Chapter[]): Buffer {
  if (chapters.length === 0) return Buffer.alloc(0);
  const ids = chapters.map((_, index) => Buffer.from(`chp${index}\0`, 'latin1'));
  const flags = Buffer.from([3, chapters.length]);
  const marks = chapters.map(({ title, startSeconds, endSeconds }, index) => {
    const times = Buffer.alloc(16, 0xff);
    times.writeUInt32BE(milliseconds(startSeconds), 0);
    times.writeUInt32BE(milliseconds(endSeconds), 4);
    return frame('CHAP', ids[index] ?? flags, times, textFrame('TIT2', title));
  });
  return Buffer.concat([frame('CTOC', Buffer.from('toc\0', 'latin1'), flags, ...ids), ...marks]);
}

/** As an integer of 32 bits. */
const milliseconds = (seconds: number): number => Math.min(Math.round(seconds * 1000), 0xffff_ffff);

/** One line without control characters, at most `MAX_TEXT_UNITS` long, and never half of a surrogate pair. */
export const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT_UNITS)
    .replace(/[\ud800-\udbff]$/, '');

/** Seven bits in each byte, so that a size never looks like the start of an MPEG audio frame (ID3v2.3 §3.1). */
const synchsafe = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
