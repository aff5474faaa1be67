import type { Database } from './database.ts';

/** A checkpoint that is running. */
export interface Checkpoint {
  /** Settles with it; never rejects. */
  readonly done: Promise<void>;
  /** Whether writes must wait for `done`. */
  holdsWrites(): boolean;
}

/**
 * Copies the write-ahead log into the database, in the order that SQLite requires for a power failure at any moment: the
 * log is on the disk before the database changes, and the database before the log is overwritten. The waiting for the disk,
 * which takes up to half a second on a busy one, happens in Node's thread pool instead of within SQLite, where it would
 * block the event loop. Reads continue meanwhile; writes wait for the second half of it.
 */
export function startCheckpoint(database: Database, onFailure: (error: unknown) => void): Checkpoint {
  let isHolding = false;
  const run = async () => {
    await database.syncLog();
    isHolding = true;
    // What was written since the first sync: little, and the disk is idle.
    await database.syncLog();
    database.copyLog();
    await database.syncFile();
    // The first write to a log that begins again: SQLite would sync it.
    database.restartLog();
    await database.syncLog();
  };
  const done = run()
    .catch(onFailure)
    .finally(() => {
      isHolding = false;
    });
  return { done, holdsWrites: () => isHolding };
}
