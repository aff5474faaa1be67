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
  /** What stays of entries that nothing uses: a burst of requests must not keep memory that ordinary use does not need. */
  readonly idle?: IdleLimit;
}

export interface IdleLimit {
  /** Milliseconds since its last use after which an entry is idle. */
  readonly afterMs: number;
  /** The sum of the weights of all entries, beyond which idle ones are evicted, the least recently used first. */
  readonly maxWeight: number;
}

export function createLruCache<K, V extends NonNullable<unknown>>(
  maxEntries: number,
  { maxWeight, weightOf, idle }: LruCacheWeights<V> = { maxWeight: 0, weightOf: () => 0 },
): LruCache<K, V> {
  interface Entry {
    readonly value: V;
    readonly usedAt: number;
  }
  // A Map iterates in insertion order: the first key is the least recently used one.
  const entries = new Map<K, Entry>();
  let weight = 0;
  let idleTimer: NodeJS.Timeout | undefined;

  const add = (key: K, value: V) => entries.set(key, { value, usedAt: performance.now() });
  const remove = (key: K) => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    weight -= weightOf(entry.value);
  };
  const scheduleEviction = ({ afterMs, maxWeight }: IdleLimit) => {
    if (weight <= maxWeight || idleTimer) return;
    const [oldest] = entries.values();
    const idleInMs = Math.max(0, (oldest?.usedAt ?? 0) + afterMs - performance.now());
    idleTimer = setTimeout(() => {
      idleTimer = undefined;
      for (const [key, { usedAt }] of entries) {
        if (weight <= maxWeight || usedAt + afterMs > performance.now()) break;
        remove(key);
      }
      scheduleEviction({ afterMs, maxWeight });
    }, Math.ceil(idleInMs)).unref();
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      add(key, entry.value);
      return entry.value;
    },
    set(key, value) {
      remove(key);
      add(key, value);
      weight += weightOf(value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && weight <= maxWeight) break;
        remove(oldest);
      }
      if (idle) scheduleEviction(idle);
    },
    delete: remove,
    keys: () => entries.keys(),
  };
}

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

export interface TtlCacheOptions<T> extends Partial<LruCacheWeights<T>> {
  /** The least recently used record is evicted beyond this. */
  readonly maxEntries: number;
  /**
   * Milliseconds after which a record has to be read again: another process may have written a newer one. Its memory is
   * released then, too.
   */
  readonly maxAgeMs: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

export function createTtlCache<T extends Expiring>({
  maxEntries,
  maxAgeMs,
  maxWeight = Number.POSITIVE_INFINITY,
  weightOf = () => 0,
  now = Date.now,
}: TtlCacheOptions<T>): TtlCache<T> {
  interface Entry {
    readonly record: T;
    readonly staleAt: number;
  }
  const entries = createLruCache<string, Entry>(maxEntries, { maxWeight, weightOf: ({ record }) => weightOf(record) });
  let isReleaseScheduled = false;

  const scheduleRelease = () => {
    if (isReleaseScheduled) return;
    isReleaseScheduled = true;
    setTimeout(() => {
      isReleaseScheduled = false;
      for (const id of [...entries.keys()]) {
        const entry = entries.get(id);
        if (entry && entry.staleAt <= now()) entries.delete(id);
      }
      if (!entries.keys()[Symbol.iterator]().next().done) scheduleRelease();
    }, maxAgeMs).unref();
  };

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
      scheduleRelease();
      return record;
    },
  };
}
