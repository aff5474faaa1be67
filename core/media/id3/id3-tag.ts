/** The text of a tag; `null` leaves the frame out. */
export interface TagText {
  readonly title: string | null;
  readonly artist: string | null;
}

/** Bytes of the header of an ID3v2 tag, and of a frame within one (ID3v2.3 §3.1, §3.3). */
export const ID3_HEADER_BYTES = 10;
/** UTF-16 code units kept of a title or an artist, so that a hostile text cannot make a tag of megabytes. */
const MAX_TEXT_UNITS = 250;
/** Text encoding of a text frame: UTF-16 with a byte order mark (ID3v2.3 §3.3). */
const UTF16_WITH_BOM = 1;

/** Whether bytes begin with the identifier of an ID3v2 tag. */
export const isId3Tag = (head: Buffer): boolean => head.toString('latin1', 0, 3) === 'ID3';

/** Bytes of the ID3v2 tag that `head` begins with, header included; 0 without a complete header of one. */
export function id3TagBytes(head: Buffer): number {
  if (head.length < ID3_HEADER_BYTES || !isId3Tag(head)) return 0;
  return ID3_HEADER_BYTES + head.subarray(6, ID3_HEADER_BYTES).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
}

/**
 * An ID3v2.3 tag, which every player reads (some do not know 2.4), with its texts in UTF-16. Empty without any text.
 * The same texts give the same bytes.
 */
export function id3Tag({ title, artist }: TagText): Buffer {
  const frames = Buffer.concat([textFrame('TIT2', title), textFrame('TPE1', artist)]);
  if (frames.length === 0) return frames;
  const header = Buffer.alloc(ID3_HEADER_BYTES);
  header.write('ID3\x03', 'latin1');
  header.set(synchsafe(frames.length), 6);
  return Buffer.concat([header, frames]);
}

function textFrame(id: 'TIT2' | 'TPE1', text: string | null): Buffer {
  const clean = cleanText(text ?? '');
  if (clean === '') return Buffer.alloc(0);
  const body = Buffer.concat([Buffer.from([UTF16_WITH_BOM, 0xff, 0xfe]), Buffer.from(clean, 'utf16le')]);
  const header = Buffer.alloc(ID3_HEADER_BYTES);
  header.write(id, 'latin1');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

/** One line without control characters, at most `MAX_TEXT_UNITS` long, and never half of a surrogate pair. */
const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT_UNITS)
    .replace(/[\ud800-\udbff]$/, '');

/** Seven bits in each byte, so that a size never looks like the start of an MPEG audio frame (ID3v2.3 §3.1). */
const synchsafe = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
