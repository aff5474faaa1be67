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

/** `Artist - Title.ext`, as every file system takes it: the name that the service gives its downloads too. */
export function fileNameOf({ title, author }: Naming, extension: string): string {
  const wanted = [author, title].filter((part) => part?.trim()).join(' - ');
  const clean = [...wanted.normalize('NFC').replace(FORBIDDEN, ' ').replace(/\s+/g, ' ')]
    .slice(0, MAX_CHARACTERS)
    .join('')
    .replace(/^[. \u200c\u200d]+|[. \u200c\u200d]+$/g, '');
  const name = clean === '' ? 'media' : RESERVED.test(clean) ? `${clean}_` : clean;
  return name + (/^\.[a-z0-9]{1,8}$/i.test(extension) ? extension : '');
}
