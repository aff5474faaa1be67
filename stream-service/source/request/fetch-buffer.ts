import { problems } from '../../../core/api/index.ts';
import { RangeFetch, type RangeFetchOptions } from './range-fetch.ts';

/**
 * Reads something small, a playlist or a key, with the same patience as any other bytes.
 * @throws Problem 404, 502: also when it is larger than `most`
 */
export async function fetchBuffer(
  options: Omit<RangeFetchOptions, 'wanted' | 'bufferLimitBytes'>,
  most: number,
  signal: AbortSignal,
): Promise<{ readonly bytes: Buffer; readonly url: string }> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const part = new RangeFetch({ ...options, wanted: { first: 0, last: undefined }, bufferLimitBytes: most });
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  const chunks: Buffer[] = [];
  let length = 0;
  part.attach({
    data(chunk) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) reject(problems.fetchFailed(new Error('The source sends too much')));
      return length <= most;
    },
    end: resolve,
    fail: reject,
  });
  try {
    await promise;
    return { bytes: Buffer.concat(chunks, length), url: part.url };
  } finally {
    signal.removeEventListener('abort', leave);
    part.destroy();
  }
}
