/** A map of bounded size that evicts the least recently used entry. lru-cache has no second limit for what is idle (`idle`). */
export interface Cache<K, V> {
  /** Marks the entry as used. Undefined once it has expired, too. */
  get(key: K): V | undefined;
  /**
   * Adds or replaces an entry, and evicts the least recently used ones when there are too many.
   * @param expiresAt epoch milliseconds. @default `maxAgeMs` from now, which applies where it is earlier
   * @returns the value
   */
  set(key: K, value: V, expiresAt?: number): V;
  delete(key: K): void;
  /** Least recently used first. */
  keys(): Iterable<K>;
}

interface CacheOptions<V> {
  readonly maxEntries: number;
  /** Milliseconds after which an entry expires. Its memory is released then, too. @default never */
  readonly maxAgeMs?: number;
  /** The sum of the weights of all entries. An entry that is heavier is not kept. @default no limit */
  readonly maxWeight?: number;
  readonly weightOf?: (value: V) => number;
  /** Called with each value that the cache has no more. */
  readonly onRemove?: (value: V) => void;
  /** What stays of entries that nothing uses: a burst of requests must not keep memory that ordinary use does not need. */
  readonly idle?: IdleLimit;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

interface IdleLimit {
  /** Milliseconds since its last use after which an entry is idle. */
  readonly afterMs: number;
  /** The sum of the weights of all entries, beyond which idle ones are evicted, the least recently used first. */
  readonly maxWeight: number;
}

export function createCache<K, V extends NonNullable<unknown>>({
  maxEntries,
  maxAgeMs = Number.POSITIVE_INFINITY,
  maxWeight = Number.POSITIVE_INFINITY,
  weightOf = () => 0,
  onRemove = () => undefined,
  idle,
  now = Date.now,
}: CacheOptions<V>): Cache<K, V> {
  interface Entry {
    readonly value: V;
    readonly expiresAt: number;
    /** On the monotonic clock. */
    readonly usedAt: number;
  }
  // A Map iterates in insertion order: the first key is the least recently used one.
  const entries = new Map<K, Entry>();
  let weight = 0;
  let releaseTimer: NodeJS.Timeout | undefined;
  /** When it fires, on the monotonic clock. */
  let releaseAt = Number.POSITIVE_INFINITY;

  const remove = (key: K) => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    weight -= weightOf(entry.value);
    onRemove(entry.value);
  };
  const idleInMs = ({ usedAt }: Entry) =>
    idle && weight > idle.maxWeight ? Math.max(0, usedAt + idle.afterMs - performance.now()) : Number.POSITIVE_INFINITY;
  const release = () => {
    releaseAt = Number.POSITIVE_INFINITY;
    for (const [key, entry] of entries) if (entry.expiresAt <= now() || idleInMs(entry) === 0) remove(key);
    scheduleRelease();
  };
  const scheduleRelease = () => {
    const [oldest] = entries.values();
    const delayMs = oldest ? Math.ceil(Math.min(maxAgeMs, idleInMs(oldest))) : Number.POSITIVE_INFINITY;
    if (performance.now() + delayMs >= releaseAt) return;
    clearTimeout(releaseTimer);
    releaseAt = performance.now() + delayMs;
    releaseTimer = setTimeout(release, delayMs).unref();
  };

  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.expiresAt <= now()) {
        remove(key);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, { ...entry, usedAt: performance.now() });
      return entry.value;
    },
    set(key, value, expiresAt = Number.POSITIVE_INFINITY) {
      remove(key);
      entries.set(key, { value, expiresAt: Math.min(expiresAt, now() + maxAgeMs), usedAt: performance.now() });
      weight += weightOf(value);
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && weight <= maxWeight) break;
        remove(oldest);
      }
      scheduleRelease();
      return value;
    },
    delete: remove,
    keys: () => entries.keys(),
  };
}

/** Runs work for a key, or joins the run that is in progress for it. */
type SingleFlight<T, K = string> = (
  key: K,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>;

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  /** Callers that have not aborted. */
  waiting: number;
}

/**
 * At most one run per key at a time: concurrent callers of the same key share its result. A caller leaves by its own
 * signal; the work is aborted when the last one has left, and the next caller starts a new run.
 */
export function createSingleFlight<T, K = string>(): SingleFlight<T, K> {
  const flights = new Map<K, Flight<T>>();

  return (key, work, signal) => {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const known = flights.get(key);
    const controller = known?.controller ?? new AbortController();
    const forget = () => {
      if (flights.get(key)?.controller === controller) flights.delete(key);
    };
    const flight = known ?? { controller, waiting: 0, result: work(controller.signal).finally(forget) };
    flights.set(key, flight);
    flight.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const leave = () => {
        flight.waiting -= 1;
        if (flight.waiting === 0) {
          forget();
          controller.abort(signal?.reason);
        }
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      flight.result.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
    });
  };
}
