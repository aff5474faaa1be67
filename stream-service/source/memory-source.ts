import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { UpstreamError } from '../../core/errors/index.ts';
import type { FileSource, Source } from './source.ts';

/** Bytes in memory as a file. */
export const memorySource = (bytes: Buffer): FileSource => ({
  needsRemux: false,
  size: bytes.length,
  isSeekable: true,
  validator: undefined,
  // The reader owns the chunk.
  read: (first, last = bytes.length - 1) =>
    Readable.from([Buffer.from(bytes.subarray(first, last + 1))], { objectMode: false }),
  close: () => undefined,
});

export interface ReadWholeOptions {
  readonly maxBytes: number;
  /** What it is, for errors: `The cover`. */
  readonly name: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads a small file whole. The bound holds where the source states no size, or a wrong one.
 * @throws UpstreamError for a longer file and for segments, the signal's reason, and what reading throws
 */
export async function readWhole(source: Source, { maxBytes, name, signal }: ReadWholeOptions): Promise<Buffer> {
  if (source.needsRemux) throw new UpstreamError(`${name} is a playlist`);
  let left = maxBytes;
  const body = source.read(0).map(
    (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) throw new UpstreamError(`${name} is too large`);
      return chunk;
    },
    { signal },
  );
  return buffer(body);
}
