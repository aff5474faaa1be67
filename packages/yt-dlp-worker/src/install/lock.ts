import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once when another holder has the lock. An error that it throws ends the wait. */
  readonly onWait?: () => void;
  /** @default 500 */
  readonly pollIntervalMs?: number;
}

/** SQLite's result code while another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Runs work under a lock, for one holder at a time of this and other processes. The lock is that of an empty SQLite database
 * because the system releases it when its process ends, also by SIGKILL. The file stays.
 * @throws what the work throws; the signal's reason while it waits
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { signal, onWait, pollIntervalMs = 500 } = options;
  await mkdir(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    for (let waits = 0; !take(database); waits++) {
      if (waits === 0) onWait?.();
      await sleep(pollIntervalMs, undefined, { signal });
    }
    return await work();
  } finally {
    database.close();
  }
}

function take(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
