import { createLruCache } from './lru-cache.ts';

/** A record of the state table. `expiresAt` in epoch seconds. */
export interface Expiring {
  readonly id: string;
  readonly expiresAt: number;
}

/** Recently read or written records by id, each for a short time: a popular link is not read from the table per request. */
export interface TtlCache<T extends Expiring> {
  /** Undefined when unknown, older than `maxAgeMs`, or expired by its own `expiresAt`. */
  get(id: string): T | undefined;
  /** @returns the record */
  set(record: T): T;
}

export interface TtlCacheOptions {
  /** The least recently used record is evicted beyond this. */
  readonly maxEntries: number;
  /** Milliseconds after which a record has to be read again: another process may have written a newer one. */
  readonly maxAgeMs: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

export function createTtlCache<T extends Expiring>({
  maxEntries,
  maxAgeMs,
  now = Date.now,
}: TtlCacheOptions): TtlCache<T> {
  const entries = createLruCache<string, { readonly record: T; readonly staleAt: number }>(maxEntries);
  return {
    get(id) {
      const entry = entries.get(id);
      if (!entry) return undefined;
      if (entry.staleAt > now() && entry.record.expiresAt * 1000 > now()) return entry.record;
      entries.delete(id);
      return undefined;
    },
    set(record) {
      entries.set(record.id, { record, staleAt: now() + maxAgeMs });
      return record;
    },
  };
}
