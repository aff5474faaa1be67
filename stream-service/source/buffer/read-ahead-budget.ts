/** The memory for reading ahead that all streams of a process share: many slow clients must not each fill theirs. */
export interface ReadAheadBudget {
  /** Reserves so many bytes; false: there is no room now, and the reader does without. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createReadAheadBudget(bytes: number): ReadAheadBudget {
  let free = bytes;
  return {
    take(wanted) {
      if (wanted > free) return false;
      free -= wanted;
      return true;
    },
    give(returned) {
      free += returned;
    },
  };
}
