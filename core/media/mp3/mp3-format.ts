/**
 * The arithmetic of the MP3 conversion, needed both to promise its size and to keep the promise: an ID3v2 tag, then
 * nothing but frames. 48 kHz, 192 kbit/s, constant bit rate, no bit reservoir: every frame is alike.
 */
export const MP3_SAMPLE_RATE = 48_000;
export const MP3_BITRATE_KBPS = 192;
export const MP3_SAMPLES_PER_FRAME = 1152;
export const MP3_FRAME_BYTES = 576;

/** UTF-16 code units kept of a title or an artist, so that a hostile text cannot make a tag of megabytes. */
const TEXT_LIMIT = 250;
const HEADER_BYTES = 10;
const UTF16_WITH_BOM = 1;

export interface TagText {
  readonly title: string | null;
  readonly artist: string | null;
}

/** What names a recording; `tag` overrides its title and author where that was promised before they changed. */
export interface TaggedRecording {
  readonly title: string | null;
  readonly author: string | null;
  readonly tag?: TagText;
}

/** The text of the tag of a recording's conversions. */
export const tagText = ({ tag, title, author }: TaggedRecording): TagText => tag ?? { title, artist: author };

/** Frames of a conversion: LAME adds one for its delay. A rounding error of the seconds must not cost a frame. */
export const mp3Frames = (durationSeconds: number): number =>
  Math.ceil(Math.round(durationSeconds * MP3_SAMPLE_RATE) / MP3_SAMPLES_PER_FRAME) + 1;

/** Bytes of the whole conversion, tag included. Undefined when nobody can count that far. */
export function mp3SizeBytes(durationSeconds: number, text: TagText): number | undefined {
  const size = id3Tag(text).length + mp3Frames(durationSeconds) * MP3_FRAME_BYTES;
  return Number.isSafeInteger(size) ? size : undefined;
}

/**
 * The tag in front of the frames: ID3v2.3, which every player reads (2.4 is unknown to some), texts in UTF-16.
 * Empty when there is nothing to say. The same texts give the same bytes.
 */
export function id3Tag({ title, artist }: TagText): Buffer {
  const frames = Buffer.concat([textFrame('TIT2', title), textFrame('TPE1', artist)]);
  if (frames.length === 0) return frames;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('ID3\x03', 'latin1');
  header.set(synchsafe(frames.length), 6);
  return Buffer.concat([header, frames]);
}

function textFrame(id: 'TIT2' | 'TPE1', text: string | null): Buffer {
  const clean = cleanText(text ?? '');
  if (clean === '') return Buffer.alloc(0);
  const body = Buffer.concat([Buffer.from([UTF16_WITH_BOM, 0xff, 0xfe]), Buffer.from(clean, 'utf16le')]);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(id, 'latin1');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

/** One line, no control characters, bounded, and never half of a surrogate pair. */
const cleanText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, TEXT_LIMIT)
    .replace(/[\ud800-\udbff]$/, '');

/** Seven bits in each byte, so that a size never looks like the start of a frame (ID3v2.3 §3.1). */
const synchsafe = (size: number): number[] => [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f);
