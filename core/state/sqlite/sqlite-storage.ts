import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { createSlices } from '@reelay/concurrency';
import { StorageFull } from '../../errors/index.ts';
import { type Log, silentLog } from '../../log/index.ts';
import type { StateStorage, StoredItem } from '../storage.ts';

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

const SCHEMA_VERSION = 1;
/** A process that is just ending may still hold the file. */
const BUSY_TIMEOUT_MS = 500;
/** A value of 20 KB takes 2 to 3 pages; with the default of 4 KB it would be a chain of 5. */
const PAGE_BYTES = 8192;
/** The write-ahead log is copied into the database once it has this many pages: 2 MB, about 40 resources. */
const CHECKPOINT_PAGES = 256;

/** Fixed once the file has content. Setting them again would write, for which the disk may be too full. */
const CREATION = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA auto_vacuum = INCREMENTAL;
`;

/**
 * Exclusive: SQLite keeps the index of the log in memory instead of a mapped -shm file, whose pages a full disk could
 * not back, which ends the process (SIGBUS). The lock ends with the process, however that ends.
 *
 * `synchronous = OFF`: a commit is in the log, in the operating system's memory, when it returns, and survives the end of
 * this process at any instruction. Nothing waits for the disk, which would stop the event loop. A power failure may damage
 * the file; its records live for a day, and links are resolved again.
 */
const SETUP = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

const SCHEMA = `
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS items (pk TEXT NOT NULL PRIMARY KEY, expires_at INTEGER, owner TEXT, attributes TEXT, data BLOB);
  CREATE INDEX IF NOT EXISTS records_by_expiry ON items (expires_at) WHERE data IS NOT NULL;
  CREATE TABLE IF NOT EXISTS counters (name TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = ${SCHEMA_VERSION};
  COMMIT;
`;

const STATEMENTS = {
  get: 'SELECT expires_at, owner, attributes, data FROM items WHERE pk = ?',
  put: 'INSERT OR REPLACE INTO items (pk, expires_at, owner, attributes, data) VALUES (?, ?, ?, ?, ?)',
  extend: 'UPDATE items SET expires_at = ? WHERE pk = ? AND expires_at > ? AND expires_at <= ?',
  annotate: 'UPDATE items SET attributes = json_set(attributes, ?, ?) WHERE pk = ? AND expires_at > ?',
  deleteOwned: 'DELETE FROM items WHERE pk = ? AND owner = ?',
  addRequest: "INSERT INTO counters VALUES ('requests', 1) ON CONFLICT DO UPDATE SET n = n + 1",
  countRequests: "SELECT n FROM counters WHERE name = 'requests'",
  deleteExpired: `DELETE FROM items WHERE rowid IN
    (SELECT rowid FROM items WHERE data IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  evictOldest: `DELETE FROM items WHERE rowid IN
    (SELECT rowid FROM items WHERE data IS NOT NULL ORDER BY expires_at LIMIT ?)`,
  pages: 'SELECT page_count AS total, freelist_count AS free FROM pragma_page_count, pragma_freelist_count',
} as const;

/** An open database with its prepared statements. */
interface Database {
  readonly statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>;
  /** Bytes of the file, and of the part of it that is in use. */
  size(): { readonly fileBytes: number; readonly usedBytes: number };
  /** Returns up to this many unused pages to the file system. */
  shrink(pages: number): void;
  close(): void;
}

/**
 * Opens or creates the database, for this process alone.
 * @param maxFileBytes writes that would make the file larger fail with SQLITE_FULL
 * @throws the error of SQLite, or of the file system
 */
function openDatabase(file: string, maxFileBytes: number): Database {
  prepareFile(file);
  const db = new DatabaseSync(file);
  try {
    if (statSync(file).size === 0) db.exec(CREATION);
    db.exec(SETUP);
    const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
    if (version > SCHEMA_VERSION) throw new Error(`The state table has the format of a later version (${version})`);
    // Opening an existing table writes nothing: the disk may be full.
    if (version < SCHEMA_VERSION) db.exec(SCHEMA);
    const { page_size: pageBytes } = db.prepare('PRAGMA page_size').get() as { page_size: number };
    db.exec(`PRAGMA max_page_count = ${Math.ceil(maxFileBytes / pageBytes)}`);
    const statements = Object.fromEntries(
      Object.entries(STATEMENTS).map(([name, sql]) => [name, db.prepare(sql)]),
    ) as Database['statements'];
    return {
      statements,
      size() {
        const { total, free } = statements.pages.get() as { total: number; free: number };
        return { fileBytes: total * pageBytes, usedBytes: (total - free) * pageBytes };
      },
      shrink: (pages) => db.exec(`PRAGMA incremental_vacuum(${pages})`),
      close: () => closeQuietly(db),
    };
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
}

/** A connection whose file is damaged may fail to copy its log; its file handle is closed nevertheless. */
function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // Nothing is lost that could be read again.
  }
}

/** Renames a damaged database to `….corrupt`. Its log belongs to no other. */
function setAside(file: string): void {
  if (existsSync(file)) renameSync(file, `${file}.corrupt`);
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<number, 'locked' | 'full' | 'corrupt'>> = {
  5: 'locked',
  11: 'corrupt',
  13: 'full',
  26: 'corrupt',
};

/** `full`: the disk, or the page limit. `corrupt`: the file is damaged or no database. */
export function classifyFailure(error: unknown): 'locked' | 'full' | 'corrupt' | 'other' {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  // Extended codes carry the primary one in their low byte.
  if (typeof errcode === 'number') return FAILURES[errcode & 0xff] ?? 'other';
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'full' : 'other';
}

/** Only the user of the service: the table holds cookies and signed URLs. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY_BIT = 0o1000;

/**
 * Creates the folder, and withdraws other users' rights from an existing one. A folder that is meant to be shared (sticky,
 * such as /tmp) or that belongs to another user keeps its mode.
 */
function prepareFolder(dir: string): void {
  createFolder(dir);
  const { mode, uid } = statSync(dir);
  if (mode & STICKY_BIT || uid !== process.getuid?.()) return;
  if ((mode & 0o777) !== FOLDER_MODE) chmodSync(dir, FOLDER_MODE);
}

/** Creates missing parents one by one: `mkdir` with `recursive` loops forever inside /proc. */
function createFolder(dir: string): void {
  try {
    mkdirSync(dir, FOLDER_MODE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(dir).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(dir))) throw error;
    createFolder(dirname(dir));
    createFolder(dir);
  }
}

/**
 * Makes the database file readable by its user only. SQLite gives its -wal file the same mode. An existing file is not
 * opened: closing it would release this process's locks on it (POSIX advisory locks).
 */
function prepareFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', FILE_MODE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) chmodSync(each, FILE_MODE);
}
