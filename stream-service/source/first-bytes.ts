import { finished, type Readable } from 'node:stream';
import { UpstreamError } from '../../core/errors/index.ts';

/**
 * Waits until a stream has buffered its first bytes, without consuming them.
 * @throws the error of the stream when it fails before; UpstreamError when it ends without a byte
 */
export async function firstBytes(stream: Readable): Promise<void> {
  if (!(await hasBytes(stream))) throw new UpstreamError('Stream ended before its first byte');
}

/** Waits for bytes to read, or for the end. Returns whether there are bytes. @throws the error of the stream */
export async function hasBytes(stream: Readable): Promise<boolean> {
  // Buffered data first: 'readable' may have fired already, for another listener.
  if (stream.readableLength > 0 && !stream.destroyed) return true;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const onReadable = () => {
    if (stream.readableLength > 0) resolve(true);
    else stream.read(); // A stream ends only after a read that found no more bytes.
  };
  const stop = finished(stream, { writable: false }, (error) => (error ? reject(error) : resolve(false)));
  stream.on('readable', onReadable);
  try {
    return await promise;
  } finally {
    stream.off('readable', onReadable);
    stop();
  }
}
