/** At most 4 bytes each, these stay below the 255 bytes of file systems, with extension, place and quality. */
const MAX_CHARACTERS = 60;
const MAX_EXTENDED_CHARACTERS = 55;
const MAX_QUALITY_CHARACTERS = 12;
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
 * `03 - Artist - Title (1080p).ext`, valid on every file system. Without place and quality it is the name in the
 * service's Content-Disposition.
 */
export function fileNameOf({ title, author, quality, place }: Naming, extension: string): string {
  const wanted = [author, title].filter((part) => part?.trim()).join(' - ');
  const clean = cleaned(wanted, quality || place ? MAX_EXTENDED_CHARACTERS : MAX_CHARACTERS);
  const name = clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean;
  const suffix = cleaned((quality ?? '').replace(/[^ -'*-~]/g, ''), MAX_QUALITY_CHARACTERS);
  return (
    (place ? `${String(place.number).padStart(String(place.count).length, '0')} - ` : '') +
    name +
    (suffix && ` (${suffix})`) +
    (/^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '')
  );
}

const cleaned = (text: string, maxCharacters: number): string =>
  [...text.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')]
    .slice(0, maxCharacters)
    .join('')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
