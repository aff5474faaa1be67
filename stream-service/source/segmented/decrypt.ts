import { createDecipheriv } from 'node:crypto';
import type { Filter } from '../buffer/index.ts';

/** Bytes of an AES-128 key. */
export const KEY_BYTES = 16;

/**
 * Decrypts one segment as its bytes arrive (RFC 8216 §4.3.2.4: AES-128, CBC, PKCS7 padding).
 * `final` throws on invalid padding: a wrong key, or a truncated segment.
 */
export function createDecrypt(key: Buffer, iv: Buffer): Filter {
  const decipher = createDecipheriv('aes-128-cbc', key, iv);
  return { update: (chunk) => decipher.update(chunk), final: () => decipher.final() };
}
