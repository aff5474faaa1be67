/** What was read or written a moment ago, so that a link that many ask for is not read from the table for each. */
export interface TtlCache<T extends { readonly id: string; readonly expiresAt: number }> {
  get(id: string): T | undefined;
  set(record: T): T;
}

export interface TtlCacheOptions {
  /** Records at most; what was not asked for longest goes first. */
  readonly maxEntries: number;
  /** Milliseconds after which the table is asked again: another process may know better. */
  readonly maxAgeMs: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

export function createTtlCache<T extends { readonly id: string; readonly expiresAt: number }>(
  options: TtlCacheOptions,
): TtlCache<T> {
  const { maxEntries: capacity, maxAgeMs: maxAge, now = Date.now } = options;
  const records = new Map<string, { readonly record: T; readonly until: number }>();
  return {
    get(id) {
      const found = records.get(id);
      if (!found) return undefined;
      records.delete(id);
      if (found.until <= now() || found.record.expiresAt * 1000 <= now()) return undefined;
      records.set(id, found); // the newest place
      return found.record;
    },
    set(record) {
      records.delete(record.id);
      records.set(record.id, { record, until: now() + maxAge });
      const [oldest] = records.keys();
      if (records.size > capacity && oldest !== undefined) records.delete(oldest);
      return record;
    },
  };
}
