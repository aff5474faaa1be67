import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** SHA-256 of a text, in hexadecimal. */
export const hash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/** HMAC-SHA-256 in base64url without padding. */
export const sign = (key: string, text: string): string =>
  btoa(String.fromCharCode(...hmac(sha256, utf8ToBytes(key), utf8ToBytes(text))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
