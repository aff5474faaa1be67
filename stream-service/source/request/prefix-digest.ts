import { createHash } from 'node:crypto';

/** Remembers what a thing began with, so that what is sent again can be compared with it. */
export interface PrefixDigest {
  /** So many bytes are remembered. */
  readonly bytes: number;
  /** Notes bytes that follow those before. */
  add(chunk: Buffer): void;
  /** Begins to compare: gives what takes all the bytes sent again, then says whether they are the same. */
  compare(): { update(chunk: Buffer): void; isSame(): boolean };
}

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
      const again = createHash('sha256');
      const before = digest.copy().digest();
      return {
        update: (chunk) => void again.update(chunk),
        isSame: () => again.digest().equals(before),
      };
    },
  };
}
