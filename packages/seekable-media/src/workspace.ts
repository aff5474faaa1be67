/**
 * Memory for work of one turn of the event loop, which the next such work uses again: to map new memory takes longer than to copy into it.
 * It is freed by the garbage collector.
 * @returns gives so many bytes, of any content
 */
export function createWorkspace(): (bytes: number) => Buffer {
  let last: WeakRef<Buffer> | undefined;
  return (bytes) => {
    const known = last?.deref();
    if (known && known.length >= bytes) return known.subarray(0, bytes);
    const created = Buffer.allocUnsafeSlow(bytes);
    last = new WeakRef(created);
    return created;
  };
}
