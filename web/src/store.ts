/** Persistent key-value storage: `localStorage`, or none where it is forbidden. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** `localStorage`; undefined where access throws. */
export function openLocalStore(): Store | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** The stored value; null without one or without storage. */
export function readStored(store: Store | undefined, name: string): string | null {
  try {
    return store?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/**
 * Stores a value, or removes it with null. Full or forbidden storage is ignored.
 * @returns whether it was stored
 */
export function store(store: Store | undefined, name: string, value: string | null): boolean {
  try {
    if (value === null) store?.removeItem(name);
    else store?.setItem(name, value);
    return store !== undefined;
  } catch {
    return false;
  }
}

/** The stored JSON; undefined without it. Another version of the page may have written it. */
export function readStoredJson(store: Store | undefined, name: string): unknown {
  try {
    return JSON.parse(readStored(store, name) ?? '');
  } catch {
    return undefined;
  }
}

/** A value with change notification. */
export interface Observable<T> {
  /** The current value; identical until it changes. */
  get(): T;
  /** Called on each change, not initially. @returns an unsubscribe function */
  subscribe(listener: (value: T) => void): () => void;
}

/** An observable that can be set. */
export interface Subject<T> extends Observable<T> {
  set(value: T): void;
}

export function createSubject<T>(initial: T): Subject<T> {
  let current = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      // The same listener may subscribe twice.
      const own = (value: T) => listener(value);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

interface TtlCacheOptions {
  /** The oldest entry beyond this is evicted. */
  readonly maxEntries: number;
  readonly ttlMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** A cache bounded in size and time. */
export function createTtlCache<T>({ maxEntries, ttlMs, now = () => performance.now() }: TtlCacheOptions) {
  const kept = new Map<string, { readonly value: T; readonly until: number }>();
  return {
    put(key: string, value: T): void {
      kept.delete(key);
      kept.set(key, { value, until: now() + ttlMs });
      const [oldest] = kept.keys();
      if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
    },
    delete: (key: string): void => void kept.delete(key),
    /** Undefined when absent or expired. */
    get(key: string): T | undefined {
      const found = kept.get(key);
      return found && now() < found.until ? found.value : undefined;
    },
  };
}
