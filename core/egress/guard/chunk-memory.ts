/** Copies bytes into a buffer that shares no memory. */
export function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * Frees the memory of a chunk that is no longer read, unless other chunks share it. The garbage collector frees external
 * memory late, and much of it triggers frequent collections.
 */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
