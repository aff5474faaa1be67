import { sha256 } from '@noble/hashes/sha2.js';
import { Buffer } from 'buffer/';

/** What seekable-media uses of `node:crypto`, for browsers: digests of SHA-256 as base64url. */
export function createHash() {
  const hash = sha256.create();
  return {
    update(data) {
      hash.update(Buffer.from(data));
      return this;
    },
    digest() {
      const text = Buffer.from(hash.digest()).toString('base64');
      return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    },
  };
}
