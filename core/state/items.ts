import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { ownTurn } from '../concurrency/index.ts';
import type { StateStorage, StoredItem } from './storage.ts';

/** Version of the item format. An item of another version is read as absent, and so resolved again. */
const SCHEMA_VERSION = 1;

/** Maximum compressed size of a record. DynamoDB limits an item to 400 KB, attribute names included. */
const MAX_ITEM_BYTES = 350 * 1024;

/** Maximum size of a record before it is compressed: to parse it takes as long. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Parsing more takes more than a millisecond. */
const MAX_QUICK_BYTES = 256 * 1024;

/** A record exceeds the maximum size of an item. */
export class ItemTooLarge extends Error {
  override readonly name = 'ItemTooLarge';
}

/** A compressed record with the attributes that the table needs. */
export interface PackedItem {
  readonly pk: string;
  readonly v: number;
  /** Epoch seconds; the table's TTL attribute. */
  readonly expiresAt: number;
  readonly data: Uint8Array;
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Quality 5 needs a third of the maximum's time for nearly its ratio, on JSON with similar URLs. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Compresses a record. @throws ItemTooLarge */
export async function packItem(pk: string, record: { readonly expiresAt: number }): Promise<PackedItem> {
  const json = Buffer.from(JSON.stringify(record));
  if (json.length > MAX_UNPACKED_BYTES) throw new ItemTooLarge(`${pk}: ${json.length} bytes`);
  const data = await compress(json, COMPRESSION);
  if (data.byteLength > MAX_ITEM_BYTES) throw new ItemTooLarge(`${pk}: ${data.byteLength} bytes compressed`);
  return { pk, v: SCHEMA_VERSION, expiresAt: record.expiresAt, data };
}

/**
 * Decompresses the record of an item, with `expiresAt` from the item, which touches change. Undefined if the item has
 * expired, is of another version, or is corrupt.
 * @param now epoch seconds
 */
export async function unpackItem<T extends { readonly id: string; readonly expiresAt: number }>(
  item: Readonly<Record<string, unknown>> | undefined,
  id: string,
  now: number,
): Promise<T | undefined> {
  if (item?.v !== SCHEMA_VERSION || !(item.data instanceof Uint8Array)) return undefined;
  const { expiresAt } = item;
  if (typeof expiresAt !== 'number' || expiresAt <= now) return undefined;
  const json = await decompress(item.data, { maxOutputLength: MAX_UNPACKED_BYTES }).catch(unreadable);
  // Lists read many records at once.
  if (json && json.length > MAX_QUICK_BYTES) await ownTurn();
  const record = json && parse(json);
  return isRecord(record) && record.id === id ? ({ ...record, expiresAt } as unknown as T) : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return unreadable(error);
  }
}

/** A corrupt item is read as absent: resolving again restores it. */
const unreadable = (_error: unknown) => undefined;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

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
