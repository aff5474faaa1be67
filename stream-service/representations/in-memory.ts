import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Representation, RepresentationHead } from '../representation.ts';

/** A small file that is known as a whole, with ranges and an ETag of its bytes. */
export const inMemory = (
  head: Omit<RepresentationHead, 'size' | 'acceptRanges' | 'etag'>,
  bytes: Buffer,
): Representation => ({
  ...head,
  size: bytes.length,
  acceptRanges: 'bytes',
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  // The reader owns the chunk.
  read: (first, last = bytes.length - 1) =>
    Readable.from([Buffer.from(bytes.subarray(first, last + 1))], { objectMode: false }),
});
