import type { StateStorage } from '../../core/state/index.ts';

/** A table that can be replaced by another one with the same content while it is in use. */
export interface SwitchableStorage {
  readonly storage: StateStorage;
  /** Sends further calls to `next`, and closes the former table once its calls have ended. */
  switchTo(next: StateStorage): Promise<void>;
}

export function createSwitchableStorage(first: StateStorage & { close(): Promise<void> }): SwitchableStorage {
  let current: StateStorage = first;
  return {
    storage: {
      get: (pk) => current.get(pk),
      put: (item) => current.put(item),
      putIf: (item, condition) => current.putIf(item, condition),
      extend: (pk, change) => current.extend(pk, change),
      annotate: (pk, name, value, after) => current.annotate(pk, name, value, after),
      deleteOwned: (pk, owner) => current.deleteOwned(pk, owner),
      addRequest: () => current.addRequest(),
      countRequests: () => current.countRequests(),
      requireSpace: () => current.requireSpace(),
    },
    async switchTo(next) {
      current = next;
      await first.close();
    },
  };
}
