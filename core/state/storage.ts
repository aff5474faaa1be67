/** An item of the state table. Conditions read the named attributes; the others have JSON types. */
export interface StoredItem {
  readonly pk: string;
  /** Epoch seconds from which the item counts as absent. Readers check it: storage deletes expired items later. */
  readonly expiresAt?: number;
  /** The holder of a lease. */
  readonly owner?: string;
  /** A compressed record. Only items with one may be evicted before they expire. */
  readonly data?: Uint8Array;
  readonly [attribute: string]: unknown;
}

/** When an existing item may be replaced. None of the conditions: only if there is no item. */
interface ReplaceCondition {
  /** Epoch seconds: an item that expires by then may be replaced. */
  readonly expiredAt?: number;
  /** Items of these owners may be replaced. */
  readonly owners?: readonly string[];
}

/** A change of the expiry, for an item that expires after `after` and not later than `upTo`. All in epoch seconds. */
interface ExpiryChange {
  readonly after: number;
  readonly upTo: number;
  readonly expiresAt: number;
}

/** A number to store with an item. */
interface AddedAttribute {
  readonly name: string;
  readonly value: number;
  /** Epoch seconds. */
  readonly after: number;
}

/**
 * What the state needs of a key-value store: consistent reads, conditions on one item, and a counter for concurrent
 * writers. Every call rejects if the store fails.
 */
export interface StateStorage {
  /** The item, expired or not. */
  get(pk: string): Promise<StoredItem | undefined>;
  /** @throws StorageFull if it has a record for which there is no disk space */
  put(item: StoredItem): Promise<void>;
  /** Stores the item if there is none of its key or the condition holds. False if neither. */
  putIf(item: StoredItem, condition: ReplaceCondition): Promise<boolean>;
  /** Changes the expiry if the item has one within the limits. @throws StorageFull */
  extend(pk: string, change: ExpiryChange): Promise<void>;
  /** Sets a further attribute of an item that expires after `after`; no other item is changed. */
  annotate(pk: string, attribute: AddedAttribute): Promise<void>;
  /** Adds to the number `n` of an item, which it creates or whose expiry it sets. @returns the sum */
  add(pk: string, amount: number, expiresAt: number): Promise<number>;
  /** Deletes the item if it belongs to this owner. */
  deleteOwned(pk: string, owner: string): Promise<void>;
  /** Adds one to the request count. */
  addRequest(): Promise<void>;
  countRequests(): Promise<number>;
  /** @throws StorageFull if there is no disk space for further records */
  requireSpace(): Promise<void>;
}
