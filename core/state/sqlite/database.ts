import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

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
export interface Database {
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
export function openDatabase(file: string, maxFileBytes: number): Database {
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
export function setAside(file: string): void {
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
export function prepareFolder(dir: string): void {
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
