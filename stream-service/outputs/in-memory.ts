import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FileType } from '../../core/media/codecs/index.ts';
import type { Representation } from './representation.ts';

/** A small file that is known as a whole, with ranges and an ETag of its bytes. */
export const inMemory = (
  { mimeType, fileExtension, isInline }: FileType & Pick<Representation, 'isInline'>,
  bytes: Buffer,
): Representation => ({
  ...{ mimeType, fileExtension, isInline },
  size: bytes.length,
  acceptRanges: 'bytes',
  etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  // The reader owns the chunk.
  read: (first, last = bytes.length - 1) =>
    Readable.from([Buffer.from(bytes.subarray(first, last + 1))], { objectMode: false }),
});
