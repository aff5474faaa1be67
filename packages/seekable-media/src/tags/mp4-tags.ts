import { box, fullBox, u32, u64 } from '../isobmff/index.ts';
import type { Chapter } from '../parts/chapters.ts';
import { cleanText, MAX_COVER_BYTES, MAX_LINK_CHARACTERS, type RecordingText } from './id3.ts';

/** Bytes of every `udta` without chapters, padding included: offsets behind it depend on neither texts nor cover. */
export const MP4_TAGS_BYTES = 64 * 1024;
/** Well-known types of values (QuickTime File Format, Metadata). */
const IMPLICIT = 0;
const UTF8 = 1;
const JPEG = 13;
/** The handler of iTunes metadata: reserved, `mdir`, `appl`, reserved, and an empty name. */
const HANDLER = fullBox('hdlr', 0, 0, u32(0), Buffer.from('mdirappl', 'latin1'), Buffer.alloc(9));

/**
 * `udta` with the metadata that iTunes introduced and players read (`meta`, `ilst`), always of `MP4_TAGS_BYTES` and the bytes of
 * the chapters (`chpl`).
 * @param cover JPEG of at most `MAX_COVER_BYTES`; empty or absent: none
 */
export function mp4Tags(text: RecordingText, cover: Buffer = Buffer.alloc(0)): Buffer {
  const { title, artist, album, trackNumber, date, link = '', chapters = [] } = text;
  const items = box(
    'ilst',
    textItem('©nam', title),
    textItem('©ART', artist),
    textItem('©alb', album),
    // Reserved, number, total (0: unknown), reserved: 16 bits each.
    trackNumber ? item('trkn', IMPLICIT, Buffer.from([0, 0, trackNumber >> 8, trackNumber & 0xff, 0, 0, 0, 0])) : NONE,
    textItem('©day', date),
    textItem('©cmt', link.length > MAX_LINK_CHARACTERS ? '' : link),
    cover.length > 0 && cover.length <= MAX_COVER_BYTES ? item('covr', JPEG, cover) : NONE,
  );
  const meta = fullBox('meta', 0, 0, HANDLER, items);
  // Two headers: of `udta`, and of `free`.
  return box('udta', meta, chapterList(chapters), box('free', Buffer.alloc(MP4_TAGS_BYTES - 16 - meta.length)));
}

const NONE = Buffer.alloc(0);
/** Units per second of `chpl`. */
const CHAPTER_TIMESCALE = 10_000_000;
/** The length of a title in `chpl` has 8 bits. */
const MAX_CHAPTER_TITLE_BYTES = 255;

/** `chpl`, which Nero introduced: of the chapters where they start and their titles. */
function chapterList(chapters: readonly Chapter[]): Buffer {
  if (chapters.length === 0) return NONE;
  const entries = chapters.flatMap(({ title, startSeconds }) => {
    const text = Buffer.alloc(MAX_CHAPTER_TITLE_BYTES);
    // Whole characters only.
    const bytes = text.write(cleanText(title));
    return [u64(Math.round(startSeconds * CHAPTER_TIMESCALE)), Buffer.from([bytes]), text.subarray(0, bytes)];
  });
  return fullBox('chpl', 1, 0, u32(0), Buffer.from([chapters.length]), ...entries);
}

function textItem(type: string, text: string | null | undefined): Buffer {
  const clean = cleanText(text ?? '');
  return clean === '' ? NONE : item(type, UTF8, Buffer.from(clean));
}

const item = (type: string, valueType: number, value: Buffer): Buffer =>
  box(type, box('data', u32(valueType, 0), value));
