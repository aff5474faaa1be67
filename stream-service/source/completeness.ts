import { createDecipheriv } from 'node:crypto';
import { appendChunk } from '../../core/egress/client/index.ts';
import {
  createAdtsCheck,
  createFrameScanner,
  createMp4Check,
  createMpegTsCheck,
  type FrameCheck,
  type FrameScanner,
} from '../../core/media/frames/index.ts';

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

export interface MediaCheckOptions {
  /** Duration that the segment list states; 0 when unknown. */
  readonly seconds?: number;
  readonly cipher?: { readonly key: Buffer; readonly iv: Buffer };
}

/** Media are never shorter. */
const MIN_MEDIA_BYTES = 8;
/** Bytes from which a container is recognized: the sync bytes of three MPEG-TS packets. */
const HEAD_BYTES = 2 * 188 + 1;
/** AES block. */
const BLOCK_BYTES = 16;

/**
 * Checks a segment, an initialization section or a file by the rules of its container:
 * - MPEG-TS: packets of 188 bytes, whose timestamps span the stated duration;
 * - MP4: boxes with a size, an `mdat` after every `moof`, and all fragments that an index lists;
 * - packed AAC: frames with a size, whose number yields the duration;
 * - AES-128: whole blocks, the last of them padded; the plaintext is one of the above.
 *
 * Bytes in any other format pass, and so does everything after bytes that violate these rules.
 */
export function createMediaCheck({ seconds = 0, cipher }: MediaCheckOptions = {}): CompletenessCheck {
  const plaintext = createPlaintextCheck(seconds);
  return cipher ? createCipherCheck(cipher, plaintext) : plaintext;
}

function createPlaintextCheck(seconds: number): CompletenessCheck {
  let head: Buffer = Buffer.alloc(0);
  let scanner: FrameScanner | undefined;
  let frames: FrameCheck | undefined;
  const recognize = () => {
    frames = createMpegTsCheck(head, seconds) ?? createMp4Check(head) ?? createAdtsCheck(head, seconds);
    if (frames) scanner = createFrameScanner(frames);
    scanner?.update(head);
  };
  return {
    update(chunk) {
      if (head.length >= HEAD_BYTES) return scanner?.update(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length >= HEAD_BYTES) recognize();
    },
    problem() {
      if (head.length === 0) return 'empty';
      if (head.length < MIN_MEDIA_BYTES) return 'ends within a frame';
      if (head.length < HEAD_BYTES) recognize();
      if (!scanner || scanner.state() === 'unknown') return undefined;
      return scanner.state() === 'cut' ? 'ends within a frame' : frames?.problem();
    },
  };
}

function createCipherCheck(
  { key, iv }: { readonly key: Buffer; readonly iv: Buffer },
  plaintext: CompletenessCheck,
): CompletenessCheck {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  let bytes = 0;
  let lastBlock: Buffer = Buffer.alloc(0);
  return {
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
