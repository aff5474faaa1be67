import { closeSync, fdatasync, openSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { fileId, prepareFile } from './data-folder.ts';

const SCHEMA_VERSION = 1;
/** For a process that is just ending and still holds the file. */
const BUSY_TIMEOUT_MS = 500;
/** A value of 20 KB takes 2 to 3 pages; with the default of 4 KB it would be a chain of 5. */
const PAGE_BYTES = 8192;
/** Maximum size of the file of the write-ahead log while it is empty. */
const LOG_LIMIT_BYTES = 4 * 1024 * 1024;

/** Fixed once the file has content. Setting them again would write, for which the disk may be too full. */
const CREATION = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA auto_vacuum = INCREMENTAL;
`;

/**
 * Exclusive: SQLite keeps the index of the log in memory instead of a mapped -shm file, whose pages a full disk could
 * not back, which ends the process (SIGBUS). The lock ends with the process, however that ends.
 *
 * `synchronous = NORMAL`: a commit is in the log, in the operating system's memory, when it returns. It survives the end of
 * this process at any instruction. After a power failure the database is consistent, and the commits since the last
 * checkpoint may be missing. `FULL` would sync each commit: milliseconds during which the event loop stops.
 *
 * No automatic checkpoint: SQLite reports its failure as that of the commit before it, which has happened.
 */
const SETUP = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES};
`;

/** The steps of a checkpoint that write. They are not synced: `checkpoint.ts` does that outside of the event loop. */
const COPY_LOG = 'PRAGMA wal_checkpoint(PASSIVE)';
const RESTART_LOG = "INSERT INTO counters VALUES ('checkpoints', 1) ON CONFLICT DO UPDATE SET n = n + 1";

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

/** Waits until an open file is on the disk. */
export type Sync = (descriptor: number) => Promise<void>;

const fileSync: Sync = promisify(fdatasync);

/** An open database with its prepared statements. */
export interface Database {
  readonly statements: Readonly<Record<keyof typeof STATEMENTS, StatementSync>>;
  /** Bytes of the file, and of the part of it that is in use. */
  size(): { readonly fileBytes: number; readonly usedBytes: number };
  /** Returns up to this many unused pages to the file system. */
  shrink(pages: number): void;
  /** Copies the write-ahead log into the database, without a sync. The log must be on the disk. */
  copyLog(): void;
  /** Begins the log at its start again after `copyLog`, without a sync. The database must be on the disk. */
  restartLog(): void;
  /** Waits until the log is on the disk. */
  syncLog(): Promise<void>;
  /** Waits until the database file, apart from its log, is on the disk. */
  syncFile(): Promise<void>;
  /** Whether the path no longer leads to the open file: it was deleted or replaced. */
  hasMoved(): boolean;
  close(): void;
}

/**
 * Opens or creates the database, for this process alone.
 * @param maxFileBytes writes that would make the file larger fail with SQLITE_FULL
 * @param sync waits until an open file is on the disk
 * @throws the error of SQLite, or of the file system
 */
export function openDatabase(file: string, maxFileBytes: number, sync: Sync = fileSync): Database {
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
    const id = fileId(file);
    // Open as long as the database: closing a descriptor of the file releases this process's locks on it.
    const descriptor = openSync(file, 'r+');
    return {
      statements,
      size() {
        const { total, free } = statements.pages.get() as { total: number; free: number };
        return { fileBytes: total * pageBytes, usedBytes: (total - free) * pageBytes };
      },
      shrink: (pages) => db.exec(`PRAGMA incremental_vacuum(${pages})`),
      copyLog: () => runUnsynced(db, COPY_LOG),
      restartLog: () => runUnsynced(db, RESTART_LOG),
      async syncLog() {
        await using log = await open(`${file}-wal`, 'r+');
        await sync(log.fd);
      },
      syncFile: () => sync(descriptor),
      hasMoved: () => fileId(file) !== id,
      close: () => {
        try {
          db.close();
        } finally {
          closeSync(descriptor);
        }
      },
    };
  } catch (error) {
    closeQuietly(db);
    throw error;
  }
}

function runUnsynced(db: DatabaseSync, sql: string): void {
  db.exec('PRAGMA synchronous = OFF');
  try {
    db.exec(sql);
  } finally {
    db.exec('PRAGMA synchronous = NORMAL');
  }
}

function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // The error that led to closing is the one to report.
  }
}
