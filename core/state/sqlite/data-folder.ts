import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only the user of the service: the table holds cookies and signed URLs. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const STICKY_BIT = 0o1000;

/**
 * The space that stays free for counts, leases and other processes: 5 % of the disk within these limits. The minimum holds
 * the write-ahead log and what a checkpoint adds to the database.
 */
const MIN_RESERVED_BYTES = 5 * 1024 * 1024;
const MAX_RESERVED_BYTES = 64 * 1024 * 1024;
const RESERVED_FRACTION = 0.05;

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
export function prepareFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', FILE_MODE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) chmodSync(each, FILE_MODE);
}

/** Whether the disk of a folder has less free space than is reserved. @param needed bytes about to be written */
export function isDiskNearlyFull(dir: string, needed = 0): boolean {
  const { bavail, blocks, bsize } = statfsSync(dir);
  const reserved = Math.min(MAX_RESERVED_BYTES, Math.max(MIN_RESERVED_BYTES, blocks * bsize * RESERVED_FRACTION));
  return bavail * bsize - needed < reserved;
}
