import type { StateStorage, StoredItem } from './storage.ts';

/** An exclusive right with an expiry, so that a crashed owner does not block others. */
export interface Lease {
  readonly owner: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** One lease, stored as an item of the table. */
export interface LeaseItem<T extends Lease> {
  /** The current lease; undefined once expired. */
  get(): Promise<T | undefined>;
  /**
   * Acquires or renews the lease. False if another owner holds it.
   * @param from an owner to take it over from, after that owner was found to have failed
   */
  acquire(lease: T, from?: string): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  release(owner: string): Promise<void>;
}

/** Options of `createLeaseItem`. */
export interface LeaseItemOptions<T extends Lease> {
  readonly storage: StateStorage;
  readonly pk: string;
  /** Parses an item; undefined if it is no such lease. */
  readonly read: (item: StoredItem) => T | undefined;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Creates access to one lease. */
export const createLeaseItem = <T extends Lease>({ storage, pk, read, now }: LeaseItemOptions<T>): LeaseItem<T> => ({
  get: async () => {
    const item = await storage.get(pk);
    const lease = item && read(item);
    return lease && lease.expiresAt > now() ? lease : undefined;
  },
  acquire: (lease, from = lease.owner) => {
    const { owner, expiresAt, ...attributes } = lease;
    return storage.putIf({ ...attributes, pk, owner, expiresAt }, { expiredAt: now(), owners: [owner, from] });
  },
  release: (owner) => storage.deleteOwned(pk, owner),
});
