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

export interface LruCacheWeights<V> {
  /** The sum of the weights of all entries. An entry that is heavier is not kept. */
  readonly maxWeight: number;
  readonly weightOf: (value: V) => number;
}

export function createLruCache<K, V extends NonNullable<unknown>>(
  maxEntries: number,
  { maxWeight, weightOf }: LruCacheWeights<V> = { maxWeight: 0, weightOf: () => 0 },
): LruCache<K, V> {
  // A Map iterates in insertion order: the first key is the least recently used one.
  const entries = new Map<K, V>();
  let weight = 0;
  const remove = (key: K) => {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    weight -= weightOf(value);
  };
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      remove(key);
      entries.set(key, value);
      weight += weightOf(value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && weight <= maxWeight) break;
        remove(oldest);
      }
    },
    delete: remove,
    keys: () => entries.keys(),
  };
}
