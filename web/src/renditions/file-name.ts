/** Bytes of a name in UTF-8, extension included. File systems allow 255, of which browsers need some for endings of their own. */
const MAX_BYTES = 200;
/** Bytes of the quality, which names the language and version of dubs: `129 kbps Portuguese (Brazil) (dubbed)`. */
const MAX_QUALITY_BYTES = 60;
/** Bytes added to the number, and to the quality: `03 - `, ` (1080p)`. */
const SEPARATOR_BYTES = 3;
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
 * `03 - Artist - Title (1080p).ext`, valid on every file system. Parts without a value are left out. Without place and quality
 * it is the name in the service's Content-Disposition.
 */
export function fileNameOf({ title, author, quality, place }: Naming, extension: string): string {
  const suffix = /^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '';
  const maxBytes = MAX_BYTES - suffix.length;
  const number = place ? String(place.number).padStart(String(place.count).length, '0') : '';
  // Brackets would be nested.
  const shownQuality = cutText(cleaned((quality ?? '').replace(/[()]/g, '')), MAX_QUALITY_BYTES);
  const others = [number, shownQuality].filter(Boolean).map((text) => bytesOf(text) + SEPARATOR_BYTES);
  const artistAndTitle = [cleaned(author ?? ''), cleaned(title ?? '')].filter(Boolean).join(' - ');
  const leftBytes = others.reduce((left, bytes) => left - bytes, maxBytes);
  const parts = [number, cutText(artistAndTitle, leftBytes)].filter(Boolean).join(' - ');
  const filled = shownQuality ? `${parts} (${shownQuality})` : parts;
  const clean = cleaned(cutText(cleaned(filled), maxBytes));
  return (clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean) + suffix;
}

/** A file name with a text in brackets behind it: `Title (0-10–0-25.5).mp4`. */
export const withSuffix = (fileName: string, text: string): string => fileName.replace(/(\.\w+)?$/, ` (${text})$1`);

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

const cleaned = (text: string): string =>
  text
    .normalize('NFC')
    .replace(FORBIDDEN, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
