import { existsSync, renameSync, rmSync } from 'node:fs';
import { StorageFull } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import { type Checkpoint, startCheckpoint } from './checkpoint.ts';
import { prepareFolder } from './data-folder.ts';
import { type Database, openDatabase, type Sync } from './database.ts';
import { classifySqliteError, type SqliteFailure } from './sqlite-error.ts';

/** Options of `createConnection`. */
export interface ConnectionOptions {
  readonly dir: string;
  readonly file: string;
  readonly maxBytes: number;
  readonly log: Log;
  /** Waits until an open file is on the disk. @default by the operating system */
  readonly sync?: Sync;
}

/** The database, opened again after failures that end a connection. A failure rejects the operation, never more. */
export interface Connection {
  /** Runs an operation. @throws StorageFull if the disk is full, else the error of the database */
  use<T>(operation: (database: Database) => T): T;
  /**
   * `use` for an operation that writes, to be called while `pause` is undefined: first opens the database again if its file
   * was deleted or replaced.
   * @param bytes size of the record and its share of pages
   */
  write<T>(operation: (database: Database) => T, bytes?: number): T;
  /** While writes must wait for the disk: settles when that is over. */
  pause(): Promise<void> | undefined;
  /** Settles when nothing waits for the disk. */
  settled(): Promise<void>;
  /** Failures are logged once; after this call, again. */
  reportWorking(): void;
  close(): void;
}

/** Space for counts and leases beyond the budget of records. */
const RESERVED_BYTES = 4 * 1024 * 1024;
/** Written between two checkpoints: about 40 resources, or 128 counts. */
const CHECKPOINT_BYTES = 2 * 1024 * 1024;
/** Pages that a write changes besides those of its record. */
const WRITE_OVERHEAD_BYTES = 2 * 8192;
const REOPEN_INTERVAL_MS = 1000;

/**
 * Opens the database of a folder. A damaged file is renamed to `….corrupt`, and an empty one is created.
 * @throws Error with a message for the operator when the folder cannot be used or another process uses it
 */
export function createConnection({ dir, file, maxBytes, log, sync }: ConnectionOptions): Connection {
  const logged = new Set<SqliteFailure>();
  let isClosed = false;
  let database: Database | undefined;
  let writtenBytes = 0;
  let checkpoint: Checkpoint | undefined;
  let retryAt = 0;
  let lastOpenError: unknown;

  const open = (): Database => {
    prepareFolder(dir);
    return openDatabase(file, maxBytes + RESERVED_BYTES, sync);
  };

  /** Renames a damaged file: an instance that has lost its keys is of more use than one that does not start. */
  const openUndamaged = (): Database => {
    try {
      return open();
    } catch (error) {
      if (classifySqliteError(error) !== 'corrupt') throw error;
      setAside(file);
      log.error('State database is damaged: starting with an empty one', { saved: `${file}.corrupt` });
      return open();
    }
  };

  const closeDatabase = () => {
    const closing = database;
    database = undefined;
    try {
      closing?.close();
    } catch {
      // A connection whose file is damaged or gone may fail to write its log; the file handle is closed nevertheless.
    }
  };

  const handleFailure = (error: unknown): unknown => {
    const failure = error instanceof StorageFull ? 'full' : classifySqliteError(error);
    if (!logged.has(failure)) log.error('State database failed', { failure, error: String(error) });
    logged.add(failure);
    if (failure === 'corrupt' || failure === 'broken') closeDatabase();
    if (failure === 'corrupt') setAside(file);
    return failure === 'full' && !(error instanceof StorageFull)
      ? new StorageFull('The disk is full', { cause: error })
      : error;
  };

  const use = <T>(operation: (opened: Database) => T): T => {
    if (isClosed) throw new Error('The state database is closed');
    try {
      database ??= reopen();
      return operation(database);
    } catch (error) {
      throw handleFailure(error);
    }
  };

  /** A failure leaves the commits in the log, and is retried after as many writes. */
  const beginCheckpoint = (target: Database) => {
    writtenBytes = 0;
    checkpoint = startCheckpoint(target, (error) => {
      if (database === target) handleFailure(error);
    });
    void checkpoint.done.then(() => {
      checkpoint = undefined;
    });
  };

  /** At most one attempt per interval: an attempt may wait for the lock, and blocks the event loop meanwhile. */
  const reopen = (): Database => {
    if (performance.now() < retryAt) throw lastOpenError;
    try {
      return openUndamaged();
    } catch (error) {
      lastOpenError = error;
      retryAt = performance.now() + REOPEN_INTERVAL_MS;
      throw error;
    }
  };

  try {
    database = openUndamaged();
  } catch (error) {
    throw folderError(dir, error);
  }

  return {
    use,
    write: (operation, bytes = 0) => {
      if (database?.hasMoved()) {
        log.error('State database was deleted or replaced: continuing with what is there', { file });
        closeDatabase();
        // It belongs to the former file, and would be applied to the one that is there.
        removeLog(file);
      }
      const result = use(operation);
      writtenBytes += bytes + WRITE_OVERHEAD_BYTES;
      if (writtenBytes > CHECKPOINT_BYTES && database && !checkpoint) beginCheckpoint(database);
      return result;
    },
    pause: () => (checkpoint?.holdsWrites() ? checkpoint.done : undefined),
    settled: async () => checkpoint?.done,
    reportWorking: () => {
      if (logged.size > 0) log.info('State database recovered');
      logged.clear();
    },
    close: () => {
      isClosed = true;
      closeDatabase();
    },
  };
}

function setAside(file: string): void {
  if (existsSync(file)) renameSync(file, `${file}.corrupt`);
  removeLog(file);
}

function removeLog(file: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
}

function folderError(dir: string, error: unknown): Error {
  if (classifySqliteError(error) === 'locked')
    return new Error(`Another process uses the data folder ${dir}`, { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code?.startsWith('ERR_') ? message : (code ?? message);
  return new Error(`The data folder ${dir} cannot be used: ${reason.split('\n')[0]}`, { cause: error });
}
