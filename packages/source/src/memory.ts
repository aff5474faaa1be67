import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { appendChunk, generatedStream } from '@reelay/guarded-fetch';
import type { VirtualFile } from '@reelay/seekable-media/reading';
import type { AttemptOptions } from './attempts.ts';
import { createMediaCheck } from './completeness.ts';
import { UpstreamError } from './errors.ts';
import { RangeFetch, type RangeFetchOptions } from './range-fetch.ts';
import type { FileSource, OpenRequest, Source } from './source.ts';
import { TrackLocator } from './track-locator.ts';
import type { RequestedRange } from './upstream-request.ts';
import { createRangeRequirement } from './upstream-request.ts';

/** Returns what reads a file of computed bytes, as `FileSource.read` does. */
export const fileStreams =
  ({ size, chunks }: Pick<VirtualFile, 'size' | 'chunks'>): FileSource['read'] =>
  (first, last = size - 1) => {
    const ended = new AbortController();
    return generatedStream(chunks(first, last, ended.signal), () => ended.abort(new Error('Reading ended')));
  };

/** Bytes in memory as a file. */
export const memorySource = (bytes: Buffer): FileSource => ({
  needsRemux: false,
  size: bytes.length,
  validator: undefined,
  // The reader owns the chunk.
  read: (first, last = bytes.length - 1) =>
    Readable.from([Buffer.from(bytes.subarray(first, last + 1))], { objectMode: false }),
  close: () => undefined,
});

/**
 * Reads a small file whole, as browsers do: without ranges, which some sources serve with another length or validator each time, and
 * decoded. @throws UpstreamError, also when it is longer; UrlExpired, and what `renew` of the track throws
 */
export async function openSmallFile(request: OpenRequest, maxBytes: number): Promise<FileSource> {
  const { limits, track, signal } = request;
  const locator = new TrackLocator({ ...request, load: async () => undefined });
  const rangeRequirement = createRangeRequirement(limits, track);
  const target = locator.target({ rangeRequirement });
  const { bytes } = await fetchBuffer({ ...request, target, createCheck: createMediaCheck }, maxBytes, signal);
  if (bytes.length === 0) throw new UpstreamError('Upstream file is empty');
  return memorySource(bytes);
}

export interface ReadWholeOptions {
  readonly maxBytes: number;
  /** What it is, for errors: `The cover`. */
  readonly name: string;
  readonly signal?: AbortSignal;
}

/**
 * Reads a small file whole. The bound holds where the source states no size, or a wrong one.
 * @throws UpstreamError for a longer file and for segments, the signal's reason
 */
export async function readSmallSource(source: Source, { maxBytes, name, signal }: ReadWholeOptions): Promise<Buffer> {
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

/**
 * Reads a small entity, a playlist or a key, into memory, with the same retries as any other bytes.
 * @param range of the entity. @default all of it
 * @returns the bytes, and the URL after redirects
 * @throws UpstreamError, also when it is larger than `maxBytes`; UrlExpired, and what `renew` of the track throws
 */
export async function fetchBuffer(
  options: AttemptOptions & Pick<RangeFetchOptions, 'createCheck'>,
  maxBytes: number,
  signal: AbortSignal,
  { first = 0, last }: Partial<RequestedRange> = {},
): Promise<{ readonly bytes: Buffer; readonly url: string }> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fetch = new RangeFetch({
    ...options,
    isDecoded: last === undefined,
    requested: { first, last },
    bufferLimitBytes: maxBytes,
  });
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  fetch.attach({
    data(chunk) {
      appendChunk(chunks, chunk);
      length += chunk.length;
      if (length > maxBytes) reject(new UpstreamError(`Response exceeds ${maxBytes} bytes`));
      return length <= maxBytes;
    },
    end: resolve,
    fail: reject,
  });
  try {
    await promise;
    return { bytes: Buffer.concat(chunks, length), url: fetch.url };
  } finally {
    signal.removeEventListener('abort', onAbort);
    fetch.destroy();
  }
}
