/** Memory for reading ahead, shared by all streams of a process: many slow clients must not each fill their buffers. */
export interface ReadAheadBudget {
  /** Reserves bytes. Returns false when there is not enough budget: the stream then does not read ahead. */
  tryReserve(bytes: number): boolean;
  release(bytes: number): void;
}

export function createReadAheadBudget(totalBytes: number): ReadAheadBudget {
  let freeBytes = totalBytes;
  return {
    tryReserve(bytes) {
      if (bytes > freeBytes) return false;
      freeBytes -= bytes;
      return true;
    },
    release(bytes) {
      freeBytes += bytes;
    },
  };
}
