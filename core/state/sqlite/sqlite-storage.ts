import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { createSlices } from '@reelay/concurrency';
import { StorageFull } from '../../errors/index.ts';
import { type Log, silentLog } from '../../log/index.ts';
import type { StateStorage, StoredItem } from '../storage.ts';
import { classifyFailure, type Database, openDatabase, prepareFolder, setAside } from './database.ts';

/** Options of `openSqliteStorage`. */
interface SqliteStorageOptions {
  /** Created when missing. One process at a time can use it. */
  readonly dir: string;
  /** Maximum size of the stored items; beyond it, records that expire first are deleted. @default 1 GiB */
  readonly maxBytes?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
  /** Whether too little disk space is free to write this many bytes. @default by the file system of `dir` */
  readonly isDiskNearlyFull?: (dir: string, bytes: number) => boolean;
}

/** The state table of one machine, in one file. */
export interface SqliteStorage extends StateStorage {
  /** Deletes expired records. Runs every minute. */
  purge(): Promise<void>;
  close(): void;
}

/** The file of the table in its folder; SQLite adds `-wal` for its log. */
const DATABASE_FILE = 'state.db';

const DEFAULT_MAX_BYTES = 1024 ** 3;
/** Space for counts and leases beyond the budget of records. */
const RESERVED_BYTES = 4 * 1024 * 1024;
/** What an item takes besides its record: key, attributes, its share of pages and of the index. */
const ITEM_OVERHEAD_BYTES = 16 * 1024;
const PURGE_INTERVAL_MS = 60_000;
/** Records deleted at once: one delete call stays within milliseconds even if each has hundreds of KB. */
const DELETE_BATCH = 8;
/** Bounds the time of one write when the budget was reduced; `purge` deletes the rest. */
const MAX_EVICTION_BATCHES = 64;
/** Unused pages are returned to the file system a few at a time, once they are a quarter of the file. */
const SHRINK_PAGES = 64;
const MIN_USED_FRACTION = 0.75;

/**
 * Opens the table. Its operations are synchronous, and take up to a tenth of a millisecond. A damaged file is renamed to
 * `….corrupt`, when it is opened or later, and an empty table takes its place.
 * @throws FolderInUse, or Error, with a message for the operator when another process uses the folder or it cannot be used
 */
export function openSqliteStorage(options: SqliteStorageOptions): SqliteStorage {
  const { dir, maxBytes = DEFAULT_MAX_BYTES, now = Date.now, log = silentLog } = options;
  const isNearlyFull = options.isDiskNearlyFull ?? isDiskNearlyFull;
  const file = join(dir, DATABASE_FILE);
  let isClosed = false;
  let isFailing = false;
  /** Undefined while a damaged file could not be replaced. */
  let database: Database | undefined;

  const open = () => {
    prepareFolder(dir);
    return openDatabase(file, maxBytes + RESERVED_BYTES);
  };
  /** An instance that has lost its keys is of more use than one that does not start. */
  const openUndamaged = () => {
    try {
      return open();
    } catch (error) {
      if (classifyFailure(error) !== 'corrupt') throw error;
      setAside(file);
      log.error('State database is damaged: starting with an empty one', { saved: `${file}.corrupt` });
      return open();
    }
  };

  /** @throws StorageFull if the disk is full, else the error of the database. It is logged until a record is stored again. */
  const use = async <T>(operation: (opened: Database) => T): Promise<T> => {
    if (isClosed) throw new Error('The state database is closed');
    try {
      database ??= openUndamaged();
      return operation(database);
    } catch (error) {
      const failure = error instanceof StorageFull ? 'full' : classifyFailure(error);
      if (!isFailing) log.error('State database failed', { failure, error: String(error) });
      isFailing = true;
      if (failure === 'corrupt') {
        database?.close();
        database = undefined;
        setAside(file);
      }
      throw failure === 'full' ? new StorageFull('The disk is full', { cause: error }) : error;
    }
  };

  const requireSpace = (bytes: number) => {
    if (isNearlyFull(dir, bytes)) throw new StorageFull('Too little disk space is free for further records');
  };
  const isOverBudget = (opened: Database, bytes = 0) => opened.size().usedBytes + bytes > maxBytes;
  const evictSome = ({ statements }: Database) => Number(statements.evictOldest.run(DELETE_BATCH).changes) > 0;
  const deleteSomeExpired = ({ statements }: Database) =>
    Number(statements.deleteExpired.run(Math.floor(now() / 1000), DELETE_BATCH).changes) > 0;

  const store = (opened: Database, { pk, expiresAt, owner, data, ...attributes }: StoredItem) => {
    const bytes = data && data.byteLength + ITEM_OVERHEAD_BYTES;
    if (bytes) {
      requireSpace(bytes);
      for (let batch = 0; batch < MAX_EVICTION_BATCHES; batch++)
        if (!isOverBudget(opened, bytes) || !evictSome(opened)) break;
    }
    // An item of another format may have an expiry that is no number: it is kept as it is.
    const expiry = (expiresAt ?? null) as number | null;
    opened.statements.put.run(pk, expiry, owner ?? null, JSON.stringify(attributes), data ?? null);
    if (!bytes || !isFailing) return;
    isFailing = false;
    log.info('State database recovered');
  };

  const purge = async () => {
    const endSlice = createSlices();
    while (await use(deleteSomeExpired)) await endSlice();
    while (await use((opened) => isOverBudget(opened) && evictSome(opened))) await endSlice();
    while (await use(shrinkSome)) await endSlice();
  };
  try {
    database = openUndamaged();
  } catch (error) {
    throw folderError(dir, error);
  }
  // A failure is logged, and retried in a minute: expired items read as absent either way.
  const timer = setInterval(() => purge().catch(() => undefined), PURGE_INTERVAL_MS).unref();
  return {
    get: (pk) =>
      use(({ statements }) => {
        const row = statements.get.get(pk);
        return row && toItem(pk, row);
      }),
    put: (item) => use((opened) => store(opened, item)),
    putIf: (item, { expiredAt, owners = [] }) =>
      use((opened) => {
        const row = opened.statements.get.get(item.pk);
        if (row) {
          const { expiresAt, owner } = toItem(item.pk, row);
          const isExpired = expiredAt !== undefined && typeof expiresAt === 'number' && expiresAt <= expiredAt;
          if (!isExpired && !(owner !== undefined && owners.includes(owner))) return false;
        }
        store(opened, item);
        return true;
      }),
    extend: (pk, { after, upTo, expiresAt }) =>
      use(({ statements }) => {
        requireSpace(ITEM_OVERHEAD_BYTES);
        statements.extend.run(expiresAt, pk, after, upTo);
      }),
    annotate: (pk, { name, value, after }) =>
      use(({ statements }) => {
        requireSpace(ITEM_OVERHEAD_BYTES);
        statements.annotate.run(`$."${name}"`, BigInt(value), pk, after);
      }),
    add: (pk, amount, expiresAt) =>
      use((opened) => {
        const row = opened.statements.get.get(pk);
        const n = Number((row && toItem(pk, row).n) ?? 0) + amount;
        store(opened, { pk, n, expiresAt });
        return n;
      }),
    deleteOwned: (pk, owner) => use(({ statements }) => void statements.deleteOwned.run(pk, owner)),
    addRequest: () => use(({ statements }) => void statements.addRequest.run()),
    countRequests: () => use(({ statements }) => Number(statements.countRequests.get()?.n ?? 0)),
    requireSpace: () => use(() => requireSpace(0)),
    purge,
    close() {
      isClosed = true;
      clearInterval(timer);
      database?.close();
      database = undefined;
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

/** Another process has the table open. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

function folderError(dir: string, error: unknown): Error {
  if (classifyFailure(error) === 'locked')
    return new FolderInUse(`Another process uses the data folder ${dir}`, { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code?.startsWith('ERR_') ? message : (code ?? message);
  return new Error(`The data folder ${dir} cannot be used: ${reason.split('\n')[0]}`, { cause: error });
}

/**
 * The space that stays free for counts, leases and other processes: 5 % of the disk within these limits. The minimum holds
 * the write-ahead log and what a checkpoint adds to the database.
 */
const MIN_FREE_BYTES = 5 * 1024 * 1024;
const MAX_FREE_BYTES = 64 * 1024 * 1024;
const FREE_FRACTION = 0.05;

/** Whether the disk of a folder has less free space than is reserved. @param needed bytes about to be written */
export function isDiskNearlyFull(dir: string, needed = 0): boolean {
  const { bavail, blocks, bsize } = statfsSync(dir);
  const reserved = Math.min(MAX_FREE_BYTES, Math.max(MIN_FREE_BYTES, blocks * bsize * FREE_FRACTION));
  return bavail * bsize - needed < reserved;
}
