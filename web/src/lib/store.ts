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

/** The stored JSON; undefined without it. What it holds may be of another version. */
export function readStoredJson(store: Store | undefined, name: string): unknown {
  try {
    return JSON.parse(readStored(store, name) ?? '');
  } catch {
    return undefined;
  }
}
