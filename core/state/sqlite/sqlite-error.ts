/** Classes of database errors, by their consequence for the connection. */
export type SqliteFailure = 'locked' | 'full' | 'corrupt' | 'broken' | 'other';

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const FAILURES: Readonly<Record<number, SqliteFailure>> = {
  5: 'locked',
  13: 'full',
  11: 'corrupt',
  26: 'corrupt',
  8: 'broken',
  10: 'broken',
  14: 'broken',
};

/**
 * Classifies an error. `full`: the disk, or the page limit. `corrupt`: the file is damaged or no database. `broken`:
 * reading or writing failed (I/O, missing file, read-only), and the connection has to be opened again.
 */
export function classifySqliteError(error: unknown): SqliteFailure {
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  // Extended codes carry the primary one in their low byte.
  if (typeof errcode === 'number') return FAILURES[errcode & 0xff] ?? 'other';
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? 'full'
    : typeof code === 'string' && isFileError(code)
      ? 'broken'
      : 'other';
}

/** Errors of the file system, unlike those of Node (`ERR_…`). */
const isFileError = (code: string): boolean => /^E(?!RR_)[A-Z]+$/.test(code);
