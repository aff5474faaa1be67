import { DEFAULT_PATTERN, MAX_PATTERN_CHARACTERS, type PATTERN_PARTS } from './file-name-pattern.ts';

/** Bytes of a name in UTF-8, extension included. File systems allow 255, of which browsers need some for endings of their own. */
const MAX_BYTES = 200;
const MAX_QUALITY_CHARACTERS = 12;
/** Bytes of quality and place with their separators: `0003 - `, ` (1080p60 HDR)`. */
const QUALITY_AND_PLACE_BYTES = 24;
/** Where a text was cut: separators and opening brackets, behind which something is missing. */
const DANGLING = /[\s\p{Pd}\p{Ps}\p{Pi},;&+]+$/u;
/**
 * Control and format characters, lone surrogates and characters special to file systems. ZWJ and ZWNJ stay: emoji
 * and some scripts need them.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*%]+|(?![\u200c\u200d])\p{Cf}/gu;
/** Device names of Windows, whatever the extension. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

export interface Naming {
  readonly title: string | null;
  readonly author: string | null;
  /** `1080p`: keeps several formats of one item apart. */
  readonly quality?: string;
  /** One-based place in a playlist and its length: files sort in its order. */
  readonly place?: { readonly number: number; readonly count: number };
}

/**
 * The pattern's name, by default `03 - Artist - Title (1080p).ext`, valid on every file system. Parts without a value
 * are left out, with their brackets and separators. By default, without place and quality, it is the name in the
 * service's Content-Disposition.
 * @param pattern text with `{number}`, `{artist}`, `{title}`, `{quality}`
 */
export function fileNameOf(naming: Naming, extension: string, pattern = DEFAULT_PATTERN): string {
  const { title, author, quality, place } = naming;
  const suffix = /^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '';
  const maxBytes = MAX_BYTES - suffix.length;
  const filled = fill(pattern.slice(0, MAX_PATTERN_CHARACTERS), {
    number: place ? String(place.number).padStart(String(place.count).length, '0') : '',
    ...cutTogether(
      cleaned(author ?? ''),
      cleaned(title ?? ''),
      maxBytes - (quality || place ? QUALITY_AND_PLACE_BYTES : 0),
    ),
    quality: cleaned((quality ?? '').replace(/[^ -'*-~]/g, '').slice(0, MAX_QUALITY_CHARACTERS)),
  });
  const clean = cleaned(cutText(cleaned(filled), maxBytes));
  return (clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean) + suffix;
}

/** Cuts `artist - title` as one text. */
function cutTogether(artist: string, title: string, maxBytes: number) {
  const separator = artist && title ? ' - ' : '';
  const cut = cutText(artist + separator + title, maxBytes);
  return { artist: cut.slice(0, artist.length), title: cut.slice(artist.length + separator.length) };
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

/** Cuts a text between words; between characters, as readers see them, where a word takes more than half of it. */
function cutText(text: string, maxBytes: number): string {
  if (bytesOf(text) <= maxBytes) return text;
  const words = wholeSegments(text, 'word', maxBytes);
  const isEnough = bytesOf(words) * 2 >= maxBytes;
  return (isEnough ? words : wholeSegments(text, 'grapheme', maxBytes)).replace(DANGLING, '');
}

/** The segments at the beginning of a longer text that fit. */
function wholeSegments(text: string, granularity: 'word' | 'grapheme', maxBytes: number): string {
  // A UTF-16 code unit takes a byte or more: the last segment of this part never fits.
  const segments = new Intl.Segmenter('en', { granularity }).segment(text.slice(0, maxBytes + 1));
  let end = 0;
  let bytes = 0;
  for (const { segment } of segments) {
    bytes += bytesOf(segment);
    if (bytes > maxBytes) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** Private-use character in place of a part without a value. */
const EMPTY = '\ue000';
const EMPTY_BRACKETS = /\s*[([{]\ue000[)\]}]/g;
const EMPTY_AND_SEPARATOR = /\ue000\s*(?:[-\u2013\u2014_,.|\u00b7]+\s*)?/g;

function fill(pattern: string, values: Readonly<Record<(typeof PATTERN_PARTS)[number], string>>): string {
  const filled = pattern.replace(
    /\{(number|artist|title|quality)\}/g,
    (_, part: keyof typeof values) => values[part] || EMPTY,
  );
  const withoutBrackets = filled.replace(EMPTY_BRACKETS, '');
  const withoutEmpty = withoutBrackets.replace(EMPTY_AND_SEPARATOR, '');
  // The last part may be empty, behind its separator.
  return withoutBrackets.endsWith(EMPTY) ? withoutEmpty.replace(/[-\u2013\u2014_,.|\u00b7\s]+$/, '') : withoutEmpty;
}

const cleaned = (text: string): string =>
  text
    .normalize('NFC')
    .replace(FORBIDDEN, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
