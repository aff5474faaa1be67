/** The same bytes in memory of their own. */
export function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}

/**
 * Frees what lies under a chunk that nobody reads any more, unless other chunks share it. The garbage collector comes
 * late for such memory, and is called too often where there is much of it.
 */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
