/** At most 4 bytes each, this stays below the 255 bytes of file systems, extension included. */
const MAX_CHARACTERS = 60;
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
}

/** `Artist - Title.ext`, valid on every file system; same rule as the service's Content-Disposition. */
export function fileNameOf({ title, author }: Naming, extension: string): string {
  const wanted = [author, title].filter((part) => part?.trim()).join(' - ');
  const clean = [...wanted.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')]
    .slice(0, MAX_CHARACTERS)
    .join('')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
  const name = clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean;
  return name + (/^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '');
}
