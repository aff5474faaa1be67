import type { Schema } from '../api/index.ts';

/** How far the making of an archive is, for the clients that follow it. */
export type ArchiveProgress = Readonly<Schema<'ArchiveProgress'>>;

/** The progress of a job that has not reported any yet. */
export const NO_PROGRESS: ArchiveProgress = { state: 'building', total: 0, completed: 0, current: null, skipped: 0 };

/**
 * Seconds that the table keeps the progress after it was written. One that is still building is written again before: where
 * its process has died, it disappears.
 */
export const PROGRESS_TTL_SECONDS = 120;
