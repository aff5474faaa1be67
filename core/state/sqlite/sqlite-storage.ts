import { join } from 'node:path';
import { StorageFull } from '../../errors/index.ts';
import { type Log, silentLog } from '../../log/index.ts';
import type { StateStorage, StoredItem } from '../storage.ts';
import { createConnection } from './connection.ts';
import { isDiskNearlyFull } from './data-folder.ts';
import type { Database } from './database.ts';
import { createTimeSlicedQueue } from './time-sliced-queue.ts';

/** Options of `openSqliteStorage`. */
export interface SqliteStorageOptions {
  /** Created when missing. One process at a time can use it. */
  readonly dir: string;
  /** Maximum size of the stored items; beyond it, records that expire first are deleted. @default 1 GiB */
  readonly maxBytes?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
  /** Whether too little disk space is free to write this many bytes. @default by the file system of `dir` */
  readonly isDiskNearlyFull?: (dir: string, bytes: number) => boolean;
  /** Waits until an open file is on the disk. @default by the operating system */
  readonly sync?: (descriptor: number) => Promise<void>;
}

/** The state table of one machine, in one file. */
export interface SqliteStorage extends StateStorage {
  /** Deletes expired records. Runs every minute. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

/** The file of the table in its folder; SQLite adds `-wal` for its log. */
export const DATABASE_FILE = 'state.db';

const DEFAULT_MAX_BYTES = 1024 ** 3;
/** What an item takes besides its record: key, attributes, its share of pages and of the index. */
const ITEM_OVERHEAD_BYTES = 16 * 1024;
const SLICE_MS = 5;
const PURGE_INTERVAL_MS = 60_000;
/** Records deleted at once: one delete call stays within milliseconds even if each has hundreds of KB. */
const DELETE_BATCH = 8;
/** Bounds the time of one write when the budget was reduced; `purge` deletes the rest. */
const MAX_EVICTION_BATCHES = 64;
/** Unused pages are returned to the file system a few at a time, once they are a quarter of the file. */
const SHRINK_PAGES = 64;
const MIN_USED_FRACTION = 0.75;

/**
 * Opens the table. Operations are synchronous and small; a queue returns to the event loop between them.
 * @throws Error with a message for the operator when the folder cannot be used or another process uses it
 */
export function openSqliteStorage(options: SqliteStorageOptions): SqliteStorage {
  const { dir, maxBytes = DEFAULT_MAX_BYTES, now = Date.now, log = silentLog } = options;
  const isNearlyFull = options.isDiskNearlyFull ?? isDiskNearlyFull;
  const connection = createConnection({ dir, file: join(dir, DATABASE_FILE), maxBytes, log, sync: options.sync });
  const queue = createTimeSlicedQueue(SLICE_MS);
  const read = <T>(operation: (database: Database) => T) => queue.run(() => connection.use(operation));
  const write = async <T>(operation: (database: Database) => T, bytes?: number): Promise<T> => {
    for (;;) {
      const written = await queue.run(() => (connection.pause() ? undefined : [connection.write(operation, bytes)]));
      if (written) return written[0] as T;
      await connection.pause();
    }
  };

  const requireSpace = (bytes: number) => {
    if (isNearlyFull(dir, bytes)) throw new StorageFull('Too little disk space is free for further records');
  };

  const store = (database: Database, { pk, expiresAt, owner, data, ...attributes }: StoredItem) => {
    const json = JSON.stringify(attributes);
    database.statements.put.run(pk, (expiresAt ?? null) as number | null, owner ?? null, json, data ?? null);
  };

  const makeRoom = (database: Database, bytes: number) => {
    for (let batch = 0; batch < MAX_EVICTION_BATCHES; batch++)
      if (!isOverBudget(database, bytes) || !evictSome(database)) return;
  };
  const isOverBudget = (database: Database, bytes = 0) => database.size().usedBytes + bytes > maxBytes;
  const evictSome = ({ statements }: Database) => Number(statements.evictOldest.run(DELETE_BATCH).changes) > 0;
  const deleteSomeExpired = ({ statements }: Database) =>
    Number(statements.deleteExpired.run(Math.floor(now() / 1000), DELETE_BATCH).changes) > 0;

  const purge = async () => {
    while (await write(deleteSomeExpired));
    while (await write((database) => isOverBudget(database) && evictSome(database)));
    while (await write(shrinkSome));
  };
  // A failure is logged by the connection, and retried in a minute: expired items read as absent either way.
  const timer = setInterval(() => purge().catch(() => undefined), PURGE_INTERVAL_MS).unref();

  return {
    get: (pk) =>
      read(({ statements }) => {
        const row = statements.get.get(pk);
        return row && toItem(pk, row);
      }),
    put: (item) => {
      const bytes = item.data && item.data.byteLength + ITEM_OVERHEAD_BYTES;
      return write((database) => {
        if (bytes) {
          requireSpace(bytes);
          makeRoom(database, bytes);
        }
        store(database, item);
        if (bytes) connection.reportWorking();
      }, bytes);
    },
    putIf: (item, { expiredAt, owners = [] }) => {
      const bytes = item.data && item.data.byteLength + ITEM_OVERHEAD_BYTES;
      return write((database) => {
        const row = database.statements.get.get(item.pk);
        if (row) {
          const { expiresAt, owner } = toItem(item.pk, row);
          const isExpired = expiredAt !== undefined && typeof expiresAt === 'number' && expiresAt <= expiredAt;
          if (!isExpired && !(owner !== undefined && owners.includes(owner))) return false;
        }
        if (bytes) {
          requireSpace(bytes);
          makeRoom(database, bytes);
        }
        store(database, item);
        return true;
      }, bytes);
    },
    extend: (pk, { after, upTo, expiresAt }) =>
      write(({ statements }) => {
        requireSpace(ITEM_OVERHEAD_BYTES);
        statements.extend.run(expiresAt, pk, after, upTo);
      }),
    annotate: (pk, name, value, after) =>
      write(({ statements }) => {
        requireSpace(ITEM_OVERHEAD_BYTES);
        statements.annotate.run(`$."${name}"`, BigInt(value), pk, after);
      }),
    deleteOwned: (pk, owner) => write(({ statements }) => void statements.deleteOwned.run(pk, owner)),
    addRequest: () => write(({ statements }) => void statements.addRequest.run()),
    countRequests: () => read(({ statements }) => Number(statements.countRequests.get()?.n ?? 0)),
    requireSpace: () => write(() => requireSpace(0)),
    purge,
    async close() {
      clearInterval(timer);
      // Writes that wait for the disk join the queue.
      await connection.settled();
      queue.flush();
      connection.close();
    },
  };
}

/** Returns a few unused pages if there are many. False if there is nothing left to return. */
function shrinkSome(database: Database): boolean {
  const { fileBytes, usedBytes } = database.size();
  if (usedBytes >= fileBytes * MIN_USED_FRACTION) return false;
  database.shrink(SHRINK_PAGES);
  return database.size().fileBytes < fileBytes;
}

function toItem(pk: string, row: Readonly<Record<string, unknown>>): StoredItem {
  const { expires_at: expiresAt, owner, attributes, data } = row;
  return {
    ...(JSON.parse(String(attributes)) as object),
    pk,
    ...(expiresAt !== null && { expiresAt: expiresAt as number }),
    ...(owner !== null && { owner: owner as string }),
    ...(data !== null && { data: data as Uint8Array }),
  };
}
