import { finished, type Readable } from 'node:stream';
import { problems } from '../layers/contract/index.ts';

/**
 * Waits until a stream's first bytes are in hand and leaves them in it.
 * @throws the stream's own error when it fails before, Problem 502 when it ends without a byte
 */
export async function firstBytes(stream: Readable): Promise<void> {
  // It has told so already, maybe to somebody else.
  if (stream.readableLength > 0 && !stream.destroyed) return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = () => {
    if (stream.readableLength > 0) resolve();
    else stream.read(); // The end shows only to who asks for what lies before it.
  };
  const stop = finished(stream, { writable: false }, (error) => reject(error ?? nothingCame()));
  stream.on('readable', look);
  try {
    await promise;
  } finally {
    stream.off('readable', look);
    stop();
  }
}

const nothingCame = () => problems.fetchFailed(new Error('The stream ended without a byte'));
