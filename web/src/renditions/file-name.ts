import { DEFAULT_PATTERN, MAX_PATTERN_CHARACTERS, type PATTERN_PARTS } from './file-name-pattern.ts';

/** At most 4 bytes each, these stay below the 255 bytes of file systems, with extension, place and quality. */
const MAX_CHARACTERS = 60;
const MAX_EXTENDED_CHARACTERS = 55;
const MAX_QUALITY_CHARACTERS = 12;
/** File systems allow 255, of which the extension takes up to 9. */
const MAX_STEM_BYTES = 240;
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
  const maxCharacters = quality || place ? MAX_EXTENDED_CHARACTERS : MAX_CHARACTERS;
  const filled = fill(pattern.slice(0, MAX_PATTERN_CHARACTERS), {
    number: place ? String(place.number).padStart(String(place.count).length, '0') : '',
    ...cutTogether(cleaned(author ?? '', Infinity), cleaned(title ?? '', Infinity), maxCharacters),
    quality: cleaned((quality ?? '').replace(/[^ -'*-~]/g, ''), MAX_QUALITY_CHARACTERS),
  });
  const { read } = new TextEncoder().encodeInto(filled, new Uint8Array(MAX_STEM_BYTES));
  const clean = cleaned(filled.slice(0, read), MAX_STEM_BYTES);
  const name = clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean;
  return name + (/^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '');
}

/** Cuts `artist - title` as one text. */
function cutTogether(artist: string, title: string, maxCharacters: number) {
  const artistCharacters = [...artist].slice(0, maxCharacters);
  const rest = maxCharacters - (artist ? artistCharacters.length + ' - '.length : 0);
  return { artist: artistCharacters.join(''), title: [...title].slice(0, Math.max(rest, 0)).join('') };
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
  const withoutEmpty = filled.replace(EMPTY_BRACKETS, '').replace(EMPTY_AND_SEPARATOR, '');
  // The last part may be empty, behind its separator.
  return filled.endsWith(EMPTY) ? withoutEmpty.replace(/[-\u2013\u2014_,.|\u00b7\s]+$/, '') : withoutEmpty;
}

const cleaned = (text: string, maxCharacters: number): string =>
  [...text.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')]
    .slice(0, maxCharacters)
    .join('')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
