/** Memory for reading ahead, shared by all streams of a process: many slow clients must not each fill their buffers. */
export interface ReadAheadBudget {
  /** Reserves bytes. Returns false when there is not enough budget: the stream then does not read ahead. */
  tryReserve(bytes: number): boolean;
  release(bytes: number): void;
}

/**
 * Creates the function that returns the budget of a client. One client may reserve half of `totalBytes`.
 * @param totalBytes of all clients
 */
export function createReadAheadBudgets(totalBytes: number): (client: string) => ReadAheadBudget {
  const maxBytesPerClient = totalBytes / 2;
  const reserved = new Map<string, number>();
  let freeBytes = totalBytes;

  return (client) => ({
    tryReserve(bytes) {
      const own = (reserved.get(client) ?? 0) + bytes;
      if (bytes > freeBytes || own > maxBytesPerClient) return false;
      freeBytes -= bytes;
      reserved.set(client, own);
      return true;
    },
    release(bytes) {
      freeBytes += bytes;
      const left = (reserved.get(client) ?? 0) - bytes;
      if (left > 0) reserved.set(client, left);
      else reserved.delete(client);
    },
  });
}
