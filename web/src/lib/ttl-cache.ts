/** A cache bounded in size and time. */
export interface TtlCache<T> {
  put(key: string, value: T): void;
  /** Undefined when absent or expired. */
  get(key: string): T | undefined;
  delete(key: string): void;
}

export interface TtlCacheOptions {
  /** The oldest entry beyond this is evicted. */
  readonly maxEntries: number;
  readonly ttlMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

export function createTtlCache<T>({
  maxEntries: most,
  ttlMs: milliseconds,
  now = () => performance.now(),
}: TtlCacheOptions): TtlCache<T> {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    put(key, value) {
      kept.delete(key);
      kept.set(key, { value, until: now() + milliseconds });
      const [oldest] = kept.keys();
      if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    },
    delete: (key) => void kept.delete(key),
    get(key) {
      const found = kept.get(key);
      return found && now() < found.until ? found.value : undefined;
    },
  };
}
