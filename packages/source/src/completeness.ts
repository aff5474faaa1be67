import { createDecipheriv } from 'node:crypto';
import { appendChunk } from '@reelay/guarded-fetch';
import {
  createSegmentCheck,
  type SegmentCheck,
  type SegmentCheckOptions,
} from '@reelay/seekable-media/segment-checks/segment-check';

/**
 * Checks from the bytes themselves whether a body is complete. Needed where HTTP does not tell: without Content-Length
 * and chunked coding, a body ends when the connection closes (RFC 9112 §6.3).
 */
export interface CompletenessCheck {
  /** Takes the bytes of the body, from the first one. */
  update(chunk: Buffer): void;
  /** Why the body is incomplete; undefined when it may be complete. To be called once, at the end. */
  problem(): string | undefined;
}

/** Checks media, of which the first bytes tell whether they may be what they have to be. */
export interface MediaCheck extends CompletenessCheck, Omit<SegmentCheck, keyof CompletenessCheck> {}

export interface MediaCheckOptions extends SegmentCheckOptions {
  readonly cipher?: { readonly key: Buffer; readonly iv: Buffer } | undefined;
}

/** AES block. */
const BLOCK_BYTES = 16;

/** Checks media by the rules of their container, once they are decrypted (AES-128: whole blocks, the last of them padded). */
export function createMediaCheck({ cipher, ...options }: MediaCheckOptions = {}): MediaCheck {
  const plaintext = createSegmentCheck(options);
  return cipher ? createCipherCheck(cipher, plaintext) : plaintext;
}

function createCipherCheck(
  { key, iv }: { readonly key: Buffer; readonly iv: Buffer },
  plaintext: SegmentCheck,
): MediaCheck {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  let bytes = 0;
  let lastBlock: Buffer = Buffer.alloc(0);
  return {
    get kind() {
      return plaintext.kind;
    },
    get isAccepted() {
      return plaintext.isAccepted;
    },
    get foreignBytes() {
      return plaintext.foreignBytes;
    },
    get tracks() {
      return plaintext.tracks;
    },
    update(chunk) {
      bytes += chunk.length;
      const plain = Buffer.concat([lastBlock, decipher.update(chunk)]);
      lastBlock = plain.subarray(-BLOCK_BYTES);
      plaintext.update(plain.subarray(0, plain.length - lastBlock.length));
    },
    problem() {
      if (bytes === 0) return 'empty';
      const padding = lastBlock.at(-1) ?? 0;
      const isPadded =
        padding >= 1 && padding <= BLOCK_BYTES && lastBlock.subarray(-padding).every((byte) => byte === padding);
      if (bytes % BLOCK_BYTES !== 0 || !isPadded) return 'last encrypted block is missing';
      plaintext.update(lastBlock.subarray(0, BLOCK_BYTES - padding));
      return plaintext.problem();
    },
  };
}

/** Checks a body that must have a minimum length: a key. */
export function createLengthCheck(minBytes: number): CompletenessCheck {
  let bytes = 0;
  return {
    update(chunk) {
      bytes += chunk.length;
    },
    problem: () => (bytes < minBytes ? `${bytes} bytes of ${minBytes}` : undefined),
  };
}

/**
 * Checks an HLS playlist: that of a recording has an end tag (RFC 8216 §4.3.3.4), and a tag that announces a URI is
 * followed by one. A live playlist cut between two segments cannot be told from a complete one; its next reload can.
 */
export function createPlaylistCheck(): CompletenessCheck {
  const chunks: Buffer[] = [];
  return {
    update: (chunk) => appendChunk(chunks, chunk),
    problem() {
      const text = Buffer.concat(chunks).toString('utf8').trim();
      if (/^#EXT-X-ENDLIST\b/m.test(text)) return undefined;
      if (/^#EXT-X-PLAYLIST-TYPE:\s*VOD\b/m.test(text)) return 'no EXT-X-ENDLIST';
      const lastLine = text.slice(text.lastIndexOf('\n') + 1);
      const isOpen =
        /^#(EXTINF|EXT-X-BYTERANGE|EXT-X-STREAM-INF)\b/.test(lastLine) || '#EXT-X-ENDLIST'.startsWith(lastLine);
      return isOpen ? 'ends within an entry' : undefined;
    },
  };
}
