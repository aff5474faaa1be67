/** A value that changes, and those who want to know. */
export interface Observable<T> {
  /** What it is now. The same object until it changes. */
  get(): T;
  /** Calls back at each change, not at once. @returns what ends it */
  subscribe(listener: (value: T) => void): () => void;
}

/** An observable with the hand that changes it. */
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
      // Each subscription its own, also of one listener twice.
      const own = (value: T) => listener(value);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
