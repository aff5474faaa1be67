import { createHash } from 'node:crypto';

/** Digest of the first bytes of an entity, to compare them when the source sends them again. */
export interface PrefixDigest {
  /** Bytes digested so far. */
  readonly bytes: number;
  /** Adds the bytes that follow those added before. */
  add(chunk: Buffer): void;
  /** Starts a comparison: pass it the bytes sent again, exactly as many as were added. */
  compare(): { update(chunk: Buffer): void; isSame(): boolean };
}

/** Creates an empty digest (SHA-256). */
export function createPrefixDigest(): PrefixDigest {
  let bytes = 0;
  const digest = createHash('sha256');
  return {
    get bytes() {
      return bytes;
    },
    add(chunk) {
      bytes += chunk.length;
      digest.update(chunk);
    },
    compare() {
      const expected = digest.copy().digest();
      const repeated = createHash('sha256');
      return {
        update: (chunk) => void repeated.update(chunk),
        isSame: () => repeated.digest().equals(expected),
      };
    },
  };
}
