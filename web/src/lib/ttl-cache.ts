/** The last few values, each for a while. */
export interface TtlCache<T> {
  put(key: string, value: T): void;
  /** Undefined when it is not there any more. */
  get(key: string): T | undefined;
}

export interface TtlCacheOptions {
  /** The oldest beyond it is forgotten. */
  readonly maxEntries: number;
  readonly ttlMs: number;
  /** Milliseconds of a clock that only goes forward. */
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
    get(key) {
      const found = kept.get(key);
      return found && now() < found.until ? found.value : undefined;
    },
  };
}
