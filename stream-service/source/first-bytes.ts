import { finished, type Readable } from 'node:stream';
import { problems } from '../../core/api/index.ts';

/**
 * Waits until a stream's first bytes are in hand and leaves them in it.
 * @throws the stream's own error when it fails before, Problem 502 when it ends without a byte
 */
export async function firstBytes(stream: Readable): Promise<void> {
  if (!(await hasBytes(stream))) throw problems.fetchFailed(new Error('The stream ended without a byte'));
}

/** Settles when there are bytes to read: true, or an end. @throws what the stream failed with */
export async function hasBytes(stream: Readable): Promise<boolean> {
  // It has told so already, maybe to somebody else.
  if (stream.readableLength > 0 && !stream.destroyed) return true;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const look = () => {
    if (stream.readableLength > 0) resolve(true);
    else stream.read(); // The end shows only to who asks for what lies before it.
  };
  const stop = finished(stream, { writable: false }, (error) => (error ? reject(error) : resolve(false)));
  stream.on('readable', look);
  try {
    return await promise;
  } finally {
    stream.off('readable', look);
    stop();
  }
}
