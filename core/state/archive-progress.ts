/** How far the making of an archive is, for the clients that follow it. */
export interface ArchiveProgress {
  readonly state: 'building' | 'done' | 'failed';
  /** Entries that the archive is to have. */
  readonly total: number;
  /** Entries that are in it. */
  readonly completed: number;
  /** The title of the entry that is being sent; null: none, or it has no title. */
  readonly current: string | null;
  /** Entries that are missing in it: its index has the reasons. */
  readonly skipped: number;
}

/**
 * Seconds that the table keeps the progress after it was written. One that is still building is written again before: where
 * its process has died, it disappears.
 */
export const PROGRESS_TTL_SECONDS = 120;
