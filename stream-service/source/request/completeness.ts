import { createDecipheriv } from 'node:crypto';
import {
  type AuditedUnits,
  adtsUnits,
  createFrameScanner,
  type FrameScanner,
  mp4Units,
  mpegTsUnits,
} from '../../../core/media/frames/index.ts';

/**
 * Judges by the bytes themselves whether an answer is complete. It is asked where HTTP does not tell: without a length
 * and without chunks an answer ends when its connection does, however soon that is (RFC 9112 §6.3).
 */
export interface CompletenessCheck {
  /** Bytes of the answer, from its first one on. */
  update(chunk: Buffer): void;
  /** What is missing, for the log; undefined: nothing as far as the bytes can tell. To be asked once, at the end. */
  missing(): string | undefined;
}

export interface MediaCheckOptions {
  /** As the list says; 0: it does not. */
  readonly seconds?: number;
  readonly cipher?: { readonly key: Buffer; readonly iv: Buffer };
}

/** No media are shorter. */
const LEAST_BYTES = 8;
/** Bytes by which a container is recognized: the beginnings of three MPEG-TS packets. */
const HEAD_BYTES = 2 * 188 + 1;
const BLOCK_BYTES = 16;

/**
 * Audits a segment, an initialization section or a file. What is known of each container:
 * - MPEG-TS consists of packets of 188 bytes, and its timestamps span the duration that the list gives;
 * - MP4 consists of boxes that say their length, every `moof` has an `mdat` behind it, and an index lists the fragments;
 * - packed AAC consists of frames that say their length, whose number is the duration;
 * - AES-128 gives whole blocks, the last of which ends in padding; what it hides is one of the above.
 *
 * Of anything else, and from where bytes do not follow those rules, nothing is known: it is taken as it comes.
 */
export function createMediaCheck({ seconds = 0, cipher }: MediaCheckOptions = {}): CompletenessCheck {
  const clear = createClearAudit(seconds);
  return cipher ? createCipherAudit(cipher, clear) : clear;
}

function createClearAudit(seconds: number): CompletenessCheck {
  let head: Buffer = Buffer.alloc(0);
  let walk: FrameScanner | undefined;
  let units: AuditedUnits | undefined;
  const recognize = () => {
    units = [mpegTsUnits, mp4Units, adtsUnits].map((create) => create(head, seconds)).find((found) => found);
    if (units) walk = createFrameScanner(units);
    walk?.update(head);
  };
  return {
    update(chunk) {
      if (head.length >= HEAD_BYTES) return walk?.update(chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length >= HEAD_BYTES) recognize();
    },
    missing() {
      if (head.length === 0) return 'It is empty';
      if (head.length < LEAST_BYTES) return 'It breaks off';
      if (head.length < HEAD_BYTES) recognize();
      if (!walk || walk.state() === 'unknown') return undefined;
      return walk.state() === 'cut' ? 'It breaks off' : units?.missing();
    },
  };
}

function createCipherAudit(
  { key, iv }: { readonly key: Buffer; readonly iv: Buffer },
  clear: CompletenessCheck,
): CompletenessCheck {
  const decipher = createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
  let bytes = 0;
  let last: Buffer = Buffer.alloc(0);
  return {
    update(chunk) {
      bytes += chunk.length;
      const plain = Buffer.concat([last, decipher.update(chunk)]);
      last = plain.subarray(-BLOCK_BYTES);
      clear.update(plain.subarray(0, plain.length - last.length));
    },
    missing() {
      if (bytes === 0) return 'It is empty';
      const padding = last.at(-1) ?? 0;
      const isPadded =
        padding >= 1 && padding <= BLOCK_BYTES && last.subarray(-padding).every((byte) => byte === padding);
      if (bytes % BLOCK_BYTES !== 0 || !isPadded) return 'Its last block is missing';
      clear.update(last.subarray(0, BLOCK_BYTES - padding));
      return clear.missing();
    },
  };
}

/** Audits something of which the least length is known: a key. */
export function createLengthCheck(least: number): CompletenessCheck {
  let bytes = 0;
  return {
    update(chunk) {
      bytes += chunk.length;
    },
    missing: () => (bytes < least ? `It has ${bytes} bytes of ${least}` : undefined),
  };
}

/**
 * Audits a playlist: one of a recording has an end (RFC 8216 §4.3.3.5), and what announces a URI has one behind it. A
 * list cut between two segments of a live source looks like any other: the next look at it brings the rest.
 */
export function createPlaylistCheck(): CompletenessCheck {
  const chunks: Buffer[] = [];
  return {
    update: (chunk) => void chunks.push(chunk),
    missing() {
      const text = Buffer.concat(chunks).toString('utf8').trim();
      if (/^#EXT-X-ENDLIST\b/m.test(text)) return undefined;
      if (/^#EXT-X-PLAYLIST-TYPE:\s*VOD\b/m.test(text)) return 'It has no end';
      const last = text.slice(text.lastIndexOf('\n') + 1);
      const isOpen = /^#(EXTINF|EXT-X-BYTERANGE|EXT-X-STREAM-INF)\b/.test(last) || '#EXT-X-ENDLIST'.startsWith(last);
      return isOpen ? 'It breaks off' : undefined;
    },
  };
}
