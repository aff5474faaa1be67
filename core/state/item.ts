import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';

/** The shape that this version writes. An item of another shape reads as absent: it is resolved anew. */
const SCHEMA_VERSION = 1;

/** Compressed bytes of one item. DynamoDB takes 400 KB, names and numbers included. */
export const MAX_ITEM_BYTES = 350 * 1024;

/** More than any item of ours unpacks to: corrupt bytes must not fill the memory. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;

/** A record that the table cannot take. */
export class ItemTooLarge extends Error {
  override readonly name = 'ItemTooLarge';
}

/** A record as the table keeps it: packed, beside what the table itself must see. */
export interface PackedItem {
  readonly pk: string;
  readonly v: number;
  /** Epoch seconds; the table's TTL attribute. */
  readonly expiresAt: number;
  readonly data: Uint8Array;
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** A third of the best ratio's time for nearly its size, on JSON full of alike URLs. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Packs a record. The caller checks `data` against `MAX_ITEM_BYTES`. */
export async function packItem(pk: string, record: { readonly expiresAt: number }): Promise<PackedItem> {
  const data = await compress(JSON.stringify(record), COMPRESSION);
  return { pk, v: SCHEMA_VERSION, expiresAt: record.expiresAt, data };
}

/**
 * The record in an item, its `expiresAt` as the table has it (that is what a touch moves). Undefined when it has
 * expired, is of another version, or cannot be read.
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
  const record = await decompress(item.data, { maxOutputLength: MAX_UNPACKED_BYTES }).then(parse, unreadable);
  return isRecord(record) && record.id === id ? ({ ...record, expiresAt } as unknown as T) : undefined;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    return unreadable(error);
  }
}

/** Corrupt is absent: nothing is lost that a resolve does not bring back. */
const unreadable = (_error: unknown) => undefined;
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
