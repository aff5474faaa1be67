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
