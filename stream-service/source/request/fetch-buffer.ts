import { appendChunk } from '../../../core/egress/client/index.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import { RangeFetch, type RangeFetchOptions } from './range-fetch.ts';

/**
 * Reads a small entity, a playlist or a key, into memory, with the same retries as any other bytes.
 * @returns the bytes, and the URL after redirects
 * @throws UpstreamError, also when it is larger than `maxBytes`; UrlExpired, NotFound
 */
export async function fetchBuffer(
  options: Omit<RangeFetchOptions, 'requested' | 'bufferLimitBytes'>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly url: string }> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fetch = new RangeFetch({ ...options, requested: { first: 0, last: undefined }, bufferLimitBytes: maxBytes });
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
