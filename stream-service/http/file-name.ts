import { encodeExtended } from 'content-disposition';

/** Characters of the name, extension aside: with every one at 4 bytes it stays under the 255 bytes of file systems. */
const MAX_CHARACTERS = 60;
/**
 * Control and direction characters, lone surrogates, and what a file system reads as something else. The two joiners
 * stay: emoji and some scripts are spelt with them.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}<>:"/\\|?*%]+|(?![\u200c\u200d])\p{Cf}/gu;
/** Names Windows keeps for devices, whatever the extension. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

export interface Naming {
  readonly title: string | null;
  readonly author: string | null;
}

/** `Artist - Title.ext`, as a file system takes it. `fileExtension` with a leading dot. */
export function fileName({ title, author }: Naming, fileExtension: string): string {
  const wanted = [author, title].filter((part) => part?.trim()).join(' - ');
  const clean = [...wanted.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')]
    .slice(0, MAX_CHARACTERS)
    .join('')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
  const name = clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean;
  return name + fileExtension;
}

/** The Content-Disposition of a download: a name in ASCII for old clients and the whole name beside it (RFC 6266 §5). */
export function contentDisposition(naming: Naming, fileExtension: string): string {
  const name = fileName(naming, fileExtension);
  // Quoted always: some clients look for nothing else.
  return `attachment; filename="${toAscii(name)}"; filename*=${encodeExtended(name)}`;
}

/** Letters without their accents; what has no such form becomes an underscore. */
const toAscii = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\/%]/g, '_');
