/** A map of bounded size that evicts the least recently used entry. */
export interface LruCache<K, V> {
  /** Marks the entry as used. */
  get(key: K): V | undefined;
  /** Adds or replaces an entry, and evicts the least recently used one when there are too many. */
  set(key: K, value: V): void;
  delete(key: K): void;
  /** Least recently used first. */
  keys(): Iterable<K>;
}

export function createLruCache<K, V extends NonNullable<unknown>>(maxEntries: number): LruCache<K, V> {
  // A Map iterates in insertion order: the first key is the least recently used one.
  const entries = new Map<K, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
    },
    delete: (key) => void entries.delete(key),
    keys: () => entries.keys(),
  };
}
