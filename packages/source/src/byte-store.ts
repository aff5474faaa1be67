import { createCache } from '@reelay/concurrency';
import type { Name } from './names.ts';

/** Bytes in memory: of a fragment, of encoded frames, of a block of a file. */
export interface StoredBytes {
  /** Bytes that it takes. */
  readonly bytes: number;
  /** Called when it was passed and the store has it no more: its memory can be used again. */
  onFree?(): void;
}

/**
 * What was read or computed recently, for all streams of this process: one account of memory, and names that only `nameOf` makes. What a
 * name stands for is up to who makes it: its format says which kind of bytes it has.
 */
export interface ByteStore {
  /** Marks it as used. Undefined: it is not there. */
  get<Bytes extends StoredBytes>(name: Name): Bytes | undefined;
  /** Evicts the least recently used ones when there are too many. @returns the bytes */
  set<Bytes extends StoredBytes>(name: Name, bytes: Bytes): Bytes;
  delete(name: Name): void;
  /** The stream that has read it goes on behind it: other streams may want it, its own client does not. */
  pass(name: Name, bytes: StoredBytes): void;
}

const MAX_ENTRIES = 16_384;
const MAX_AGE_MS = 5 * 60_000;
const IDLE_MS = 30_000;
/** What is around the positions of players; the rest is read or computed again when it is needed. */
const MAX_IDLE_BYTES = 8 * 1024 * 1024;
/** Besides, so much of what streams have passed. */
const PASSED_SHARE = 0.05;

export function createByteStore(maxBytes: number): ByteStore {
  const limits = {
    maxEntries: MAX_ENTRIES,
    maxAgeMs: MAX_AGE_MS,
    weightOf: ({ bytes }: StoredBytes) => bytes,
  };
  const kept = createCache<Name, StoredBytes>({
    ...limits,
    maxWeight: maxBytes,
    idle: { afterMs: IDLE_MS, maxWeight: MAX_IDLE_BYTES },
  });
  const passed = createCache<Name, StoredBytes>({
    ...limits,
    maxWeight: maxBytes * PASSED_SHARE,
    idle: { afterMs: IDLE_MS, maxWeight: 0 },
    onRemove: (stored) => stored.onFree?.(),
  });
  return {
    get: <Bytes extends StoredBytes>(name: Name) => (kept.get(name) ?? passed.get(name)) as Bytes | undefined,
    set<Bytes extends StoredBytes>(name: Name, bytes: Bytes) {
      kept.set(name, bytes);
      return bytes;
    },
    delete(name) {
      kept.delete(name);
      passed.delete(name);
    },
    pass(name, bytes) {
      if (kept.get(name) !== bytes) return;
      kept.delete(name);
      passed.set(name, bytes);
    },
  };
}
