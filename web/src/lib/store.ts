/** What is remembered on this device: `localStorage`, or nothing where that is forbidden. */
export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** This browser's own; undefined where it refuses. */
export function openLocalStore(): Store | undefined {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

/** What is remembered under a name; null when there is nothing or no storage. */
export function readStored(store: Store | undefined, name: string): string | null {
  try {
    return store?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/**
 * Remembers, or forgets with null. A storage that is full or forbidden remembers nothing: the page does without.
 * @returns whether it is remembered
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
