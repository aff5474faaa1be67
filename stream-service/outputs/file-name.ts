import { encodeExtended } from 'content-disposition';
import { fileName, type Naming } from '../../core/http/index.ts';

/** Content-Disposition of a download: an ASCII name for old clients, and the full name (RFC 6266 §5). */
export function contentDisposition(naming: Naming, fileExtension: string): string {
  const name = fileName(naming, fileExtension);
  // Always quoted: some clients parse nothing else.
  return `attachment; filename="${toAscii(name)}"; filename*=${encodeExtended(name)}`;
}

/** Removes accents from letters and replaces other characters by underscores. */
const toAscii = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]/gu, '_')
    .replace(/["\\/%]/g, '_');
